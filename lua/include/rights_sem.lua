-- rights_sem.lua: the rights of `sem`, see rights.lua.
function rights.sem()
    return {'DEL', 'EXISTS', 'GET', 'HGETALL', 'INCR', 'PTTL', 'ZCARD'},
        {'HDEL', 'HGET', 'HMGET', 'HSCAN', 'INCRBY', 'PEXPIRE', 'SET', 'ZRANK', 'ZREM', 'ZSCORE'},
        {'HSET', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE'}
end
rights['sem --plain'] = function()
    return {'DEL', 'GET', 'HGETALL', 'INCR', 'PTTL', 'ZCARD'},
        {'HDEL', 'HGET', 'HMGET', 'HSCAN', 'INCRBY', 'PEXPIRE', 'SET', 'ZRANK', 'ZREM', 'ZSCORE'},
        {'HINCRBY', 'HSET', 'ZADD', 'ZRANGE', 'ZRANGEBYSCORE'}
end
rights['sem --resize'] = function()
    return {'GET', 'HGETALL', 'ZCARD'}, {'HDEL', 'HGET', 'HMGET', 'INCRBY', 'PEXPIRE', 'SET', 'ZREM'},
        {'HSET', 'ZADD', 'ZRANGE', 'ZRANGEBYSCORE'}
end
