-- mutex_take.lua: how `run` and `fair` take the hash that they share.

-- A right that is missing shows before anything stands: each command that renewing and giving back need
-- has been called by then, or is asked for. INCR comes first: it is refused when memory is
-- out, and a hole in the tokens harms nobody. The lock is the last, with its lease at once.
function mutex.grant()
    local refusal = server.denies('PEXPIRE', '') or server.denies('HDEL', '') or server.denies('LRANGE', '', '')
    if refusal then return refusal end
    local token = server.next_token()
    redis.call('DEL', key.info, key.hold)
    line.leave_granted(line)
    line.tell(line, 'first ' .. call.lease) -- it listens on everybody's channel from here on
    redis.call('HSET', key.info, call.owner, call.us())
    redis.call('PEXPIRE', key.info, call.lease)
    redis.call('HSET', key.hold, call.owner, token, call.id, call.lease)
    redis.call('PEXPIRE', key.hold, call.lease)
    redis.call('HSET', key.lock, call.owner, 1)
    redis.call('PEXPIRE', key.lock, call.lease)
    return {code.GRANTED, server.reply_token(token), call.lease}
end

-- For who waits or re-enters, besides what has been called by then.
function mutex.rights()
    return {{'DEL', 'INCR', 'PTTL', 'ZCARD'}, {'HDEL', 'LPOS', 'PEXPIRE', 'ZMSCORE', 'ZRANK', 'ZREM', 'ZSCORE'},
        {'HSET', 'LRANGE', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE'}}
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
    redis.call('HSET', key.lock, holder, redis.call('HGET', key.lock, holder) + 1)
    redis.call('HSET', key.hold, call.id, call.lease)
    line.leave_granted(line)
    return keep(code.REENTERED, holder)
end
