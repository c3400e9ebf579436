-- rights_resize.lua: the rights of `sem --resize`, see rights.lua.
rights['sem --resize'] = function(can, k)
    return can('GET', k) and can('HLEN', k) and can('ZCARD', k) and can('HDEL', k, k) and can('HGET', k, k)
        and can('HMGET', k, k) and can('INCRBY', k, k) and can('PEXPIRE', k, k) and can('SET', k, k)
        and can('ZREM', k, k) and can('HSET', k, k, k) and can('ZADD', k, k, k) and can('ZRANGE', k, k, k)
        and can('ZRANGEBYSCORE', k, k, k)
end
