-- include: base try line sem
-- Gives plain permits back, once, leaves the line, and wakes who fits in.
-- KEYS and ARGV: base.lua, sem.lua.
--
-- Reply {RELEASED, 0, 0} | {LOST, 0, 0}: there were none of this hold
local waiter = ARGV[7]
local function give_back()
    local reply = code.LOST
    if redis.call('HDEL', key.hold, call.id) == 1 then
        reply = code.RELEASED
        redis.call('HDEL', key.info, call.owner)
        sem.count_plain(-call.permits)
        if sem.available() then server.tell_all(redis.call('INCRBY', key.lock, call.permits)) end
    end
    local was_first = sem.leave(waiter)
    sem.wake(math.huge)
    if was_first then sem.tell_first() end
    return {reply, 0, 0}
end

return try.give_back(give_back)
