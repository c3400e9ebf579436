-- sem.lua: a semaphore with leased permits, Redisson's: lock is a string, the permits available;
-- beside it
-- KEYS  6 permits: zset {permit id, 16 bytes: epoch ms at which its lease ends}
-- hold: {hold id: token, waiter: permits it wants when more than one}
local sem = {permits = KEYS[6]}

-- nil: it was never set up, or was lost; false: the key is something else.
function sem.available() return server.integer(key.lock) end

-- The ids of the call's permits: its own, and for more than one what follows from it.
function sem.ids()
    local ids = {}
    for i = 1, call.permits do
        local hex = i == 1 and call.id or string.sub(redis.sha1hex(call.id .. i), 1, 32)
        ids[i] = (string.gsub(hex, '%x%x', function(byte) return string.char(tonumber(byte, 16)) end))
    end
    return ids
end

-- Those of the call's permits whose lease is not over. What was given back, and left held for a
-- while, is nobody's.
function sem.ours()
    local ours = {}
    if redis.call('HEXISTS', key.hold, call.id) == 0 then return ours end
    for _, id in ipairs(sem.ids()) do
        local ends = tonumber(redis.call('ZSCORE', sem.permits, id) or 0)
        if ends > server.now then ours[#ours + 1] = id end
    end
    return ours
end

-- What the dead took comes back, once. Returns how many permits are available then.
function sem.collect()
    local dead = redis.call('ZCOUNT', sem.permits, '-inf', server.now)
    if dead == 0 then return sem.available() end
    redis.call('ZREMRANGEBYSCORE', sem.permits, '-inf', server.now)
    local available = sem.available() and redis.call('INCRBY', key.lock, dead)
    if available then server.tell_all(available) end
    return available
end

function sem.expire(ms)
    server.expire_after(math.max(ms, line.TTL), key.info, key.hold)
end

-- Each of the permits for a whole lease from now on. An expiry is the first write: it is allowed
-- when memory is out, and after it the others are.
function sem.renew(ours)
    sem.expire(call.lease)
    for _, id in ipairs(ours) do
        local ends = tonumber(redis.call('ZSCORE', sem.permits, id))
        redis.call('ZADD', sem.permits, math.max(ends, server.now + call.lease), id)
    end
end

-- Wakes those in line whose request fits into what is available, `most` of them. Who is woken goes
-- to the end of the line (line.wake says why); who asks for more than there is is passed over.
function sem.wake(most)
    local rest = sem.available() or 0
    for _, waiter in ipairs(rest > 0 and redis.call('ZRANGE', key.waiters, 0, -1) or {}) do
        if rest <= 0 or most <= 0 then return end
        local wants = tonumber(redis.call('HGET', key.hold, waiter) or 1)
        if wants <= rest then
            if server.tell(waiter, '0') then
                redis.pcall('ZADD', key.waiters, 'XX', server.now, waiter)
                rest, most = rest - wants, most - 1
            else
                sem.leave(waiter)
            end
        end
    end
end

-- True: it was the first in line.
function sem.leave(waiter)
    redis.call('HDEL', key.hold, waiter)
    return line.leave(key.waiters, waiter)
end
