-- rights_break.lua: the rights of `break`, see rights.lua.
rights['break'] = function()
    return {'DEL', 'GET', 'HGETALL', 'HLEN', 'MGET', 'PTTL', 'STRLEN', 'TYPE', 'ZCARD'},
        {'HDEL', 'HGET', 'HMGET', 'HSCAN', 'HSTRLEN', 'INCRBY', 'PEXPIRE', 'SET', 'ZREM', 'ZSCAN', 'ZSCORE'},
        {'HINCRBY', 'HSET', 'LRANGE', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE'}
end
