-- rw_grant.lua: how `read` and `write` are taken by a new holder.

-- INCR comes first, and leave() is, as in grant.lua. mode, left: of the lock, nil where it is free.
function rw.grant(field, mode, left, leave)
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
