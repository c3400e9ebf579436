-- sem_take.lua: how permits are taken, leased or plain. ARGV 13: how many there are in all.

-- Sets the semaphore up where it is missing. Returns how many are available, or nil and why not.
function sem.set_up(in_use)
    local total = tonumber(ARGV[13])
    local available = sem.available()
    if available or not total then
        return available, 'it does not exist yet: say with --permits how many there are'
    end
    redis.call('SET', key.lock, total - in_use)
    server.tell_all(total - in_use)
    return total - in_use
end

-- The caller's place; behind its name stands what it wants.
function sem.place()
    local place, waiting = line.place(key.waiters)
    if ARGV[8] == '1' and call.permits > 1 then
        redis.pcall('HSET', key.hold, call.owner, call.permits)
        sem.expire(0)
    end
    return place, waiting
end

-- Someone that holds permits; '' when nobody is known to.
function sem.holder()
    return redis.call('HKEYS', key.info)[1] or ''
end

-- All that taking and giving back need, done where it changes nothing: a right that is missing shows
-- before anything is taken, and who takes may give back.
local function ask()
    redis.call('INCRBY', key.lock, 0)
    redis.call('ZREM', sem.permits, call.id)
    redis.call('HDEL', key.hold, call.id)
    redis.call('PEXPIRE', key.hold, line.TTL)
end

-- take(): puts the permits into the caller's name, for so many ms.
function sem.grant(ms, take)
    local waited = redis.call('ZSCORE', key.waiters, call.owner)
    local number = redis.call('INCR', key.token) -- first: see mutex_take.lua
    ask()
    take()
    redis.call('INCRBY', key.lock, -call.permits)
    sem.leave(call.owner)
    redis.call('HSET', key.hold, call.id, number .. ' ' .. call.owner)
    acquire.describe_us()
    sem.expire(ms)
    if waited then
        sem.tell_first()
        sem.wake(1) -- Redisson wakes only the first: each the next
    end
    return {code.GRANTED, number, ms}
end
