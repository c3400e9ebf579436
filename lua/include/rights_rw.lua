-- rights_rw.lua: the rights of `read` and `write`, see rights.lua.
rights['read, write'] = function()
    return {'DEL', 'EXISTS', 'GET', 'HGETALL', 'HLEN', 'INCR', 'MGET', 'PTTL', 'ZCARD'},
        {'HDEL', 'HEXISTS', 'HGET', 'HSCAN', 'PEXPIRE', 'RENAME', 'SET', 'ZRANK', 'ZREM', 'ZSCORE'},
        {'HINCRBY', 'HSET', 'ZADD', 'ZRANGE', 'ZRANGEBYSCORE'}
end
