-- include: base clock sem_permit
-- Gives permits back, leaves the line, and wakes the waiters that fit in. A permit that has expired comes back
-- by itself, once. KEYS and ARGV: base.lua, sem.lua.
--
-- Reply {RELEASED, 0, 0} | {LOST, 0, 0}: at least one was gone
-- Nearly always: it is one permit with a lease, nothing else is wanted, and nobody waits.
if not ARGV[8] and ARGV[4] == '1' and string.sub(ARGV[3], 33) == '.1'
    and redis.call('EXISTS', KEYS[5], KEYS[#KEYS]) == 0 then
    local id = string.sub(ARGV[3], 1, 32)
    local permit, known = permit_of(id), redis.call('HMGET', KEYS[4], id, 'latch')
    local available = redis.pcall('GET', KEYS[1])
    if known[1] and string.find(known[1], '^%d') and not known[2]
        and type(available) == 'string' and #available <= 16 and string.find(available, '^-?%d+$')
        and tonumber(redis.call('ZSCORE', KEYS[8], permit) or 0) > now then
        redis.call('HDEL', KEYS[4], id, ARGV[1])
        redis.call('HDEL', KEYS[3], ARGV[1])
        redis.call('ZREM', KEYS[8], permit)
        local publish, channel = string.match(ARGV[5], '^(S?PUBLISH) (.*)$')
        redis.pcall(publish, channel, string.format('%d', redis.call('INCRBY', KEYS[1], '1')))
        return {RELEASED, 0, 0}
    end
end

-- include: call server sem tell try lost give front waiters sem_leases sem_hex sem_dead sem_waiters
local keep_ms, waiter = call.keep_ms, call.waiter

local function give_back()
    local held, ours = sem.ours()
    if held > 0 and keep_ms > 0 then -- their lease gives them back
        sem.expire(keep_ms)
        redis.call('HSET', key.hold, call.id, '- ' .. call.owner, call.owner, '- ' .. call.id .. ' ' .. call.permits)
        redis.call('HSET', key.info, call.owner, call.kept_info(call.owner))
        sem.put(ours, server.after(keep_ms))
        server.tell_all(sem.available() or 0) -- they end sooner than the waiters were told
    else
        redis.call('HDEL', key.hold, call.id, call.owner)
        redis.call('HDEL', key.info, call.owner)
        sem.drop(ours)
        if call.plain then sem.count_plain(-held) end
        sem.give(held)
    end
    if held < call.permits then sem.collect() end
    sem.pass_on(waiter)
    return {held == call.permits and RELEASED or LOST, 0, 0}
end

return try.give_back(give_back)
