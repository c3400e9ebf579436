-- restore.lua: a hold that most servers still have, put back on one that has lost it, or never had it. Nobody waits for
-- it, or is told.
-- ARGV  7 token  8 what others are shown of the caller  9 '1': the hold is one of the owner around the caller
local restore = {token = ARGV[7], is_inner = ARGV[9] == '1'}

-- An owner is known here as on the other servers: by the hold's token, whatever a late request was given, and by what
-- the owner says of itself, once it has; until then by what is run below it.
local function note()
    local shown = redis.call('HGET', key.info, call.owner)
    if restore.is_inner and server.token_in(shown) == restore.token then return end
    redis.call('HSET', key.info, call.owner, call.us(restore.token))
end

-- The owner may stand in line here, where most servers have granted it meanwhile: it waits no more.
function restore.leave(at)
    if waiters.leave(at, call.owner) then waiters.tell(at, 'first ' .. call.lease) end
end

-- One hold of this field more in the lock's hash, which is empty where is_free. The expiry comes first where it can: it
-- is allowed when memory is out.
function restore.put(field, is_free)
    if raise.is_new(restore.token) then raise.to(restore.token) end
    if is_free then redis.call('DEL', key.info, holds.leases) end
    note()
    restore.leave(waiters)
    local known, ends = holds.find(field)
    if known then
        holds.renew(field, ends)
    else
        holds.add(field, call.lease)
        holds.expire(math.max(redis.call('PTTL', key.lock), call.lease))
    end
    return {KEPT, call.lease, 0}
end
