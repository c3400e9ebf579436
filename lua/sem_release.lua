-- include: base try line sem kept
-- Gives permits back, leaves the line, and wakes who fits in. A permit that has expired comes back
-- by itself, once. KEYS and ARGV: base.lua, sem.lua.
--
-- Reply {RELEASED, 0, 0} | {LOST, 0, 0}: at least one was gone
local keep_ms, waiter = tonumber(ARGV[6]), ARGV[7]

local function give_back()
    local ours = sem.ours()
    if #ours > 0 and keep_ms > 0 then -- their lease gives them back
        sem.expire(keep_ms)
        redis.call('HSET', key.hold, call.id, '- ' .. call.owner)
        note_kept(call.owner)
        for _, id in ipairs(ours) do redis.call('ZADD', sem.permits, 'XX', server.now + keep_ms, id) end
    else
        redis.call('HDEL', key.hold, call.id)
        redis.call('HDEL', key.info, call.owner)
        for _, id in ipairs(ours) do redis.call('ZREM', sem.permits, id) end
        if #ours > 0 and sem.available() then
            server.tell_all(redis.call('INCRBY', key.lock, #ours))
        end
    end
    sem.collect()
    local was_first = sem.leave(waiter)
    sem.wake(math.huge)
    if was_first then sem.tell_first() end
    return {#ours == call.permits and code.RELEASED or code.LOST, 0, 0}
end

return try.give_back(give_back)
