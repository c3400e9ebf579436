-- mutex_take.lua: how `run` and `fair` take the hash that they share.

-- A right that is missing shows before the lock stands: each command has been called by then, or, if
-- only renewing and giving back need it, is asked for.
function mutex.grant()
    local refusal = server.denies('PTTL') or server.denies('HGET', '') or server.denies('HDEL', '')
        or server.denies('HINCRBY', '', '') or server.denies('LINDEX', '')
    if refusal then return refusal end
    -- INCR comes first: it is refused when memory is out, and a hole in the tokens harms nobody.
    -- PEXPIRE on a key that is not there: no lock without a lease, ever.
    local token = server.next_token()
    redis.call('PEXPIRE', key.lock, call.lease)
    redis.call('DEL', key.info, key.hold)
    redis.call('ZREM', key.waiters, call.owner)
    line.tell(key.waiters, 'first ' .. call.lease) -- it listens on everybody's channel from here on
    redis.call('HSET', key.lock, call.owner, 1)
    redis.call('HSET', key.hold, call.owner, token, call.id, call.lease)
    acquire.describe_us()
    server.expire(call.lease)
    return {code.GRANTED, server.reply_token(token), call.lease}
end

-- For who waits or re-enters, besides what has been called by then.
function mutex.rights()
    return {{'DEL', 'INCR', 'PTTL', 'ZCARD'}, {'HDEL', 'LINDEX', 'LPOS', 'PEXPIRE', 'ZRANK', 'ZREM'},
        {'HINCRBY', 'HSET', 'ZADD', 'ZRANGE'}}
end

-- A hold's lease is never shortened by another hold of the same owner.
local function keep(reply, holder)
    server.prolong(call.lease)
    return {reply, server.reply_token(redis.call('HGET', key.hold, holder)), call.lease}
end

-- This very attempt was granted, its answer was lost; or its holder is around us. Else nil.
function mutex.again(holder)
    if redis.call('HGET', key.hold, call.id) then
        return keep(holder == call.owner and code.GRANTED or code.REENTERED, holder)
    end
    if acquire.proof() ~= holder then return nil end
    local refusal = server.denies_any(mutex.rights())
    if refusal then return refusal end
    redis.call('HINCRBY', key.lock, holder, 1)
    redis.call('HSET', key.hold, call.id, call.lease)
    redis.call('ZREM', key.waiters, call.owner)
    return keep(code.REENTERED, holder)
end
