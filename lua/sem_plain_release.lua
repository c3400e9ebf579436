-- include: base clock call server tell try give front waiters sem sem_waiters
-- Gives plain permits back, once, leaves the line, and wakes the waiters that fit in.
-- KEYS and ARGV: base.lua, sem.lua.
--
-- Reply {RELEASED, 0, 0} | {LOST, 0, 0}: there were none of this hold
call.plain = true

local function give_back()
    local reply = LOST
    if redis.call('HDEL', key.hold, call.id, call.owner) > 0 then
        reply = RELEASED
        redis.call('HDEL', key.info, call.owner)
        sem.count_plain(-call.permits)
        sem.give(call.permits)
    end
    sem.pass_on(call.waiter)
    return {reply, 0, 0}
end

return try.give_back(give_back)
