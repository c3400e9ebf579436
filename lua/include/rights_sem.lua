-- rights_sem.lua: the rights of `sem`, see rights.lua.
function rights.sem(can, k)
    return can('DEL', k) and can('EXISTS', k) and can('GET', k) and can('HLEN', k) and can('INCR', k)
        and can('PTTL', k) and can('ZCARD', k) and can('HDEL', k, k) and can('HGET', k, k) and can('HMGET', k, k)
        and can('HSCAN', k, k) and can('INCRBY', k, k) and can('PEXPIRE', k, k) and can('SET', k, k)
        and can('ZRANK', k, k) and can('ZREM', k, k) and can('ZSCORE', k, k) and can('HSET', k, k, k)
        and can('ZADD', k, k, k) and can('ZCOUNT', k, k, k) and can('ZRANGE', k, k, k)
        and can('ZRANGEBYSCORE', k, k, k)
end
