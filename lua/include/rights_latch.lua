-- rights_latch.lua: the rights of latches, see rights.lua.
rights['latch set'] = function(can, k)
    return can('GET', k) and can('TYPE', k) and can('HGET', k, k) and can('PEXPIRE', k, k) and can('SET', k, k)
        and can('HSET', k, k, k)
end
rights['latch down'] = function(can, k)
    return can('DEL', k) and can('GET', k) and can('TYPE', k) and can('DECRBY', k, k) and can('HGET', k, k)
        and can('PEXPIRE', k, k) and can('HSET', k, k, k)
end
rights['latch wait'] = function(can, k)
    return can('GET', k) and can('TYPE', k) and can('HGET', k, k) and can('PEXPIRE', k, k)
end
