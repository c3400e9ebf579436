-- rw_grant.lua: how a new holder of `read` or `write` is counted in the hash: grant.lua.

-- is_free: it is the first hold.
local function count_in(field, mode, is_free)
    if is_free then return redis.call('HSET', key.lock, 'mode', mode, field, '1') end
    return redis.call('HINCRBY', key.lock, field, '1')
end

function rw.count_write(field, is_free) count_in(field, 'write', is_free) end

function rw.count_read(field, is_free)
    local number = count_in(field, 'read', is_free)
    redis.call('SET', rw.lease_key(field, is_free and '1' or number), call.id, 'PX', call.lease_text)
end
