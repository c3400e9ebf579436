-- rw_grant.lua: how `read` and `write` are taken by a new holder.

-- A right that is missing shows before anything is written: each command that taking, renewing and giving
-- back need has been called by then, or is asked for.
local function denied()
    return server.denies('DEL') or server.denies('GET') or server.denies('PTTL') or server.denies('HGET', '')
        or server.denies('HLEN') or server.denies('HDEL', '')
        or server.denies('PEXPIRE', '') or server.denies('SET', '') or server.denies('ZREM', '')
        or server.denies('ZSCORE', '') or server.denies('HINCRBY', '', '') or server.denies('HSET', '', '')
        or server.denies('ZADD', '', '') or server.denies('ZRANGE', '', '')
end

-- INCR comes first, and leave() is, as in grant.lua. mode, left: of the lock, nil where it is free.
function rw.grant(field, mode, left, leave)
    local refused = denied()
    if refused then return refused end
    local token = server.next_token()
    if leave and not mode then redis.call('DEL', key.info, key.hold, rw.leases) end
    if leave then leave() end
    local place = rw.count_one(field, call.lease_text)
    if not mode then redis.call('HSET', key.lock, 'mode', rw.is_write(field) and 'write' or 'read') end
    redis.call('HSET', key.hold, call.owner, token, call.id, place, place, call.id)
    redis.call('HSET', key.info, call.owner, call.us())
    rw.expire(left > call.lease and left or call.lease_text)
    return {GRANTED, server.reply_token(token), call.lease}
end
