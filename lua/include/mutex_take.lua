-- mutex_take.lua: how `run` and `fair` take the hash that they share.
function mutex.grant()
    -- INCR comes first: it is refused when memory is out, and a hole in the tokens harms nobody.
    -- PEXPIRE on a key that is not there asks whether we may: no lock without a lease, ever.
    local number = redis.call('INCR', key.token)
    redis.call('PEXPIRE', key.lock, call.lease)
    redis.call('DEL', key.info, key.hold)
    redis.call('ZREM', key.waiters, call.owner)
    redis.call('HSET', key.lock, call.owner, 1)
    redis.call('HSET', key.hold, call.owner, number, call.id, call.lease)
    acquire.describe_us()
    server.expire(call.lease)
    line.tell(key.waiters, 'first ' .. call.lease) -- it listens on everybody's channel from here on
    return {code.GRANTED, number, call.lease}
end

-- A hold's lease is never shortened by another hold of the same owner.
local function keep(reply, holder)
    server.expire_after(call.lease, key.lock, key.info, key.hold)
    return {reply, tonumber(redis.call('HGET', key.hold, holder)), call.lease}
end

-- This very attempt was granted, its answer was lost; or its holder is around us. Else nil.
function mutex.again(holder)
    if redis.call('HEXISTS', key.hold, call.id) == 1 then
        return keep(holder == call.owner and code.GRANTED or code.REENTERED, holder)
    end
    if acquire.proof() ~= holder then return nil end
    redis.call('HINCRBY', key.lock, holder, 1)
    redis.call('HSET', key.hold, call.id, call.lease)
    redis.call('ZREM', key.waiters, call.owner)
    return keep(code.REENTERED, holder)
end
