-- rights_mutex.lua: the rights of `run`, and what `fair` needs beside that, see rights.lua.
function rights.run()
    return {'DEL', 'EXISTS', 'HGETALL', 'INCR', 'PTTL', 'ZCARD'},
        {'HDEL', 'HGET', 'HSCAN', 'LPOS', 'PEXPIRE', 'ZRANK', 'ZREM', 'ZSCORE'},
        {'HINCRBY', 'HSET', 'LRANGE', 'ZADD', 'ZRANGE', 'ZRANGEBYSCORE'}
end
function rights.fair()
    return {'LLEN', 'PERSIST'}, {'RPUSH'}, {'LREM'}, {'LINSERT'}
end
