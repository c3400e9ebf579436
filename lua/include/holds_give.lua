-- holds_give.lua: giving a hold back.

-- Left held without an owner: one hold of nobody's for all that an owner leaves so, until the longest of them ends.
local function keep(field)
    local owner = holds.owner_of(field)
    local nobody = holds.kept_by(owner)
    local kept = holds.is_write(field) and nobody .. ':write' or nobody
    local ends = redis.call('ZSCORE', holds.leases, kept .. ' ' .. holds.KEPT_ID)
    local ms = math.max(call.keep_ms, ends and ends - server.now or 0)
    holds.expire(math.max(redis.call('PTTL', key.lock), ms)) -- first: see holds.renew()
    redis.call('HSET', key.info, nobody, call.kept_info(owner))
    redis.call('HSET', key.lock, kept, '1')
    holds.lease(kept, holds.KEPT_ID, ms)
    return holds.drop(field, call.id)
end

-- Takes the call's hold out, which is under one of these fields, and some that are over. Returns the field, nil: there
-- is none; whether its lease was not over; and how many holds the field still has, 0 if all of these are over.
function holds.give_back(...)
    local field, ends = holds.find(...)
    if not field then return nil end
    local lives = holds.lives(field, ends)
    local more
    if lives and call.keep_ms > 0 then more = keep(field) else more = holds.drop(field, call.id) end
    if lives then holds.changed(field, call.id) end
    holds.bury()
    more = more and holds.left_of(holds.owner_of(field)) > 0
    return field, lives, more and holds.count(field) or 0
end
