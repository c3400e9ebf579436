-- include: base simple clock sem
-- Gives permits back, leaves the line, and wakes the waiters that fit in. A permit that has expired comes back
-- by itself, once. KEYS and ARGV: base.lua, sem.lua.
--
-- Reply {RELEASED, 0, 0} | {LOST, 0, 0}: at least one was gone
-- Nearly always: it is one permit, nothing else is wanted, and nobody waits.
local own = sem.token() and call.permits == 1 and sem.permit(call.id)
if own and call.is_simple(ARGV[8]) and sem.available()
    and tonumber(redis.call('ZSCORE', sem.permits, own) or 0) > server.now then
    redis.call('HDEL', key.hold, call.id, call.owner)
    redis.call('HDEL', key.info, call.owner)
    redis.call('ZREM', sem.permits, own)
    redis.pcall(call.publish, call.channel, string.format('%d', redis.call('INCRBY', key.lock, '1')))
    return {RELEASED, 0, 0}
end

-- include: server try give front waiters sem_leases sem_dead sem_waiters
local keep_ms, waiter = call.keep_ms, call.waiter

local function give_back()
    local ours = sem.ours()
    if #ours > 0 and keep_ms > 0 then -- their lease gives them back
        sem.expire(keep_ms)
        sem.note('-')
        redis.call('HSET', key.info, call.owner, call.kept_info(call.owner))
        sem.put(ours, server.after(keep_ms))
        server.tell_all(sem.available() or 0) -- they end sooner than the waiters were told
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
