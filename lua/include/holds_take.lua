-- holds_take.lua: holds that are there already when somebody comes to take one.

local function reply(code, owner)
    return {code, server.reply_token(server.token_in(redis.call('HGET', key.info, owner))), call.lease}
end

-- This very attempt was granted under one of these fields, and its answer lost: the same answer again, from now on.
-- nil: it was not; false: its lease is over, and it is a new attempt.
function holds.again(...)
    local field, ends = holds.find_living(...)
    if not field then return field end
    holds.renew(field, ends)
    local owner = holds.owner_of(field)
    return reply(owner == call.owner and GRANTED or REENTERED, owner)
end

-- The owner of the hold around the caller, by owner and token together; nil: it has none here.
function holds.around()
    local owner = call.proof_owner
    local known = owner and server.token_in(redis.call('HGET', key.info, owner) or '')
    return known and known == call.proof_token and holds.left_of(owner) > 0 and owner or nil
end

-- On several servers a hold is re-entered on most of them, or nowhere: those without it give nothing else instead.
function holds.apart()
    if call.only_reenters then return {APART, holds.left_of(call.proof_owner) > 0 and 1 or 0, 0} end
end

-- One hold more of the owner around the caller, which leaves the line.
function holds.reenter(field, line)
    holds.expire(math.max(redis.call('PTTL', key.lock), call.lease)) -- first: see holds.renew()
    holds.add(field, call.lease)
    waiters.remove(line, call.owner)
    return reply(REENTERED, holds.owner_of(field))
end
