-- simple.lua: what nearly always is so: a lock is free, nothing but it is wanted, and nobody waits. Scripts
-- do what is to be done then before they define what all else needs.

-- more: the argument behind those that everybody gives.
local function is_simple(more)
    return not more and call.try == 1 and not redis.call('ZRANGE', key.waiters, '0', '0')[1]
        and not redis.call('HGET', call.tombstone, 'over')
end
