-- sem.lua: a semaphore with leased permits, Redisson's: lock is a string, the permits available;
-- beside it
-- KEYS  7 permits: zset {permit id, 16 bytes: epoch ms at which its lease ends}
-- hold: {hold id: "token owner", or "- owner" when it is left held without one,
--        waiter: permits it wants when more than one, 'plain': how many plain ones are in use}
local sem = {permits = KEYS[7]}

-- nil: it was never set up, or was lost; false: the key is something else.
function sem.available() return server.integer(key.lock) end

-- How many leased permits are in use, those of the dead included that nobody has collected.
local function leased()
    local number, twin = redis.call('ZCARD', sem.permits), server.twin()
    if number == 0 or not twin or not server.has(twin) then return number end
    for _, permit in ipairs(redis.call('ZRANGE', sem.permits, 0, -1)) do
        if not server.owns_permit(permit) then number = number - 1 end
    end
    return number
end

-- The plain ones that rlock knows of; what Redisson's clients have taken is written nowhere.
function sem.plain() return tonumber(redis.call('HGET', key.hold, 'plain') or 0) end

function sem.count_plain(number)
    local all = sem.plain() + number
    if all > 0 then redis.call('HSET', key.hold, 'plain', all) else redis.call('HDEL', key.hold, 'plain') end
end

function sem.in_use() return leased() + sem.plain() end

-- The ids of the call's permits: the hold's own, and for more than one its first 12 bytes and a
-- number.
function sem.ids()
    local own = string.gsub(call.id, '%x%x', function(byte) return string.char(tonumber(byte, 16)) end)
    local ids = {own}
    for i = 2, call.permits do ids[i] = string.sub(own, 1, 12) .. struct.pack('>I4', i) end
    return ids
end

-- The token of the call's hold; nil: it has none, or gave it back.
function sem.token()
    return string.match(redis.call('HGET', key.hold, call.id) or '', '^%d+')
end

-- Those of the call's permits whose lease is not over. What was given back, and left held for a
-- while, is nobody's.
function sem.ours()
    local ours = {}
    if not sem.token() then return ours end
    for _, id in ipairs(sem.ids()) do
        local ends = tonumber(redis.call('ZSCORE', sem.permits, id) or 0)
        if ends > server.now then ours[#ours + 1] = id end
    end
    return ours
end

-- What stands beside the lock about the holder of a permit goes.
local function forget(permit)
    local id = string.gsub(permit, '.', function(byte) return ('%02x'):format(byte:byte()) end)
    local owner = string.match(redis.call('HGET', key.hold, id) or '', '^%S+ (.*)$')
    redis.call('HDEL', key.hold, id)
    if owner then redis.call('HDEL', key.info, owner) end
end

-- What the dead took comes back, once.
function sem.collect()
    local dead = 0
    for _, permit in ipairs(redis.call('ZRANGEBYSCORE', sem.permits, '-inf', server.now)) do
        if server.owns_permit(permit) then
            redis.call('ZREM', sem.permits, permit)
            forget(permit)
            dead = dead + 1
        end
    end
    if dead > 0 and sem.available() then server.tell_all(redis.call('INCRBY', key.lock, dead)) end
end

-- Never sooner than they would have ended.
function sem.expire(ms)
    for _, each in ipairs({key.info, key.hold}) do
        redis.call('PEXPIRE', each, math.max(redis.call('PTTL', each), ms, line.lifetime(0)))
    end
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
                line.expect(line, waiter, true)
                rest, most = rest - wants, most - 1
            else
                sem.leave(waiter)
            end
        end
    end
end

-- ms until the next lease ends, and a permit comes back by itself; -1: none has a lease.
function sem.next_end()
    local ends = redis.call('ZRANGE', sem.permits, 0, 0, 'WITHSCORES')[2]
    return ends and math.max(ends - server.now, 0) or -1
end

-- True: it was the first in line.
function sem.leave(waiter)
    redis.call('HDEL', key.hold, waiter)
    return line.leave(line, waiter)
end

-- Who is first in line now is there when the next lease ends, and hears Redisson's releases.
function sem.tell_first()
    local ms = sem.next_end()
    local word = 'first ' .. (ms < 0 and line.lifetime(0) or ms)
    local first = redis.call('ZRANGE', key.waiters, 0, 0)[1]
    while first and not server.tell(first, word) do
        sem.leave(first)
        first = redis.call('ZRANGE', key.waiters, 0, 0)[1]
    end
end
