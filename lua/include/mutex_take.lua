-- mutex_take.lua: how `run` and `fair` take the hash that they share.

-- Whoever is first in line listens on everybody's channel from here on.
function mutex.grant()
    return grant(function()
        waiters.leave_granted(waiters)
        waiters.tell(waiters, 'first ' .. call.lease)
    end)
end

-- A hold's lease is never shortened by another hold of the same owner.
local function keep(reply, holder)
    server.prolong(call.lease)
    return {reply, server.reply_token(redis.call('HGET', key.hold, holder)), call.lease}
end

-- This very attempt was granted, its answer was lost; or no run is wanted; or its holder is around us. Else nil.
function mutex.again(holder)
    if redis.call('HGET', key.hold, call.id) then
        return keep(holder == call.owner and GRANTED or REENTERED, holder)
    end
    local done = once.done()
    if done or acquire.proof() ~= holder then return done end
    redis.call('HSET', key.lock, holder, redis.call('HGET', key.lock, holder) + 1)
    redis.call('HSET', key.hold, call.id, call.lease)
    waiters.leave_granted(waiters)
    return keep(REENTERED, holder)
end
