-- include: base clock channel rights server giving try line sem sem_line kept
-- Gives permits back, leaves the line, and wakes who fits in. A permit that has expired comes back
-- by itself, once. KEYS and ARGV: base.lua, sem.lua.
--
-- Reply {RELEASED, 0, 0} | {LOST, 0, 0}: at least one was gone
local keep_ms, waiter = call.keep_ms, call.waiter

local function give_back()
    local ours = sem.ours()
    if #ours > 0 and keep_ms > 0 then -- their lease gives them back
        sem.expire(keep_ms)
        sem.note('-')
        note_kept(call.owner)
        sem.put(ours, server.now + keep_ms, 'XX')
    else
        redis.call('HDEL', key.hold, call.id, call.owner)
        redis.call('HDEL', key.info, call.owner)
        sem.drop(ours)
        sem.give(#ours)
    end
    if #ours < call.permits then sem.collect() end
    sem.pass_on(waiter)
    return {#ours == call.permits and RELEASED or LOST, 0, 0}
end

return try.give_back(give_back)
