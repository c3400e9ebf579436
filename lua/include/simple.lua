-- simple.lua: nearly always a lock is free, nothing but it is wanted, and nobody waits: scripts do what is to be done
-- then before they define what all else needs.

-- more: the argument behind those that everybody gives; then the keys that must not be there either.
function call.is_simple(more, ...)
    return not more and call.try == 1 and redis.call('EXISTS', key.waiters, call.tombstone, ...) == 0
end
