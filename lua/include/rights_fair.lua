-- rights_fair.lua: the rights of `fair`, see rights.lua.
function rights.fair(can, k)
    return rights.run(can, k) and can('LLEN', k) and can('PERSIST', k) and can('RPUSH', k, k)
        and can('LREM', k, k, k) and can('ZRANGEBYSCORE', k, k, k) and can('LINSERT', k, k, k, k)
end
