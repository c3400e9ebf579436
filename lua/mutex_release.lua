-- Gives one hold back, leaves the line of waiters, and wakes the next. Sent again after a lost
-- answer it finds its hold gone and takes nothing more.
--
-- KEYS  1 lock  2 fencing token  3 info  4 hold  5 waiters (as in mutex_acquire)
-- ARGV  1 owner  2 lease ms  3 hold id  4 permits (1)  5 channel
--       6 ms to leave it held for, without an owner (0: free it)
--       7 the owner it waited as, and holds as if it did not re-enter
-- Reply {RELEASED, 0, 0} | {STILL_HELD, holds left, 0}: an outer hold remains
--       {LOST, 0, 0}: this hold is not there (expired, broken, given back before, never taken)
local RELEASED, STILL_HELD, LOST = 1, 2, 0

local lock, _, info, hold, waiters = unpack(KEYS)
local owner, id, channel, keep_ms = ARGV[1], ARGV[3], ARGV[5], tonumber(ARGV[6])
local waiter = ARGV[7]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Tells the first in line; one that hears nothing is dead and loses its place. No permission to
-- publish must not undo a release: the waiters' cap finds it.
local function tell_first(message)
    while true do
        local first = redis.call('ZRANGE', waiters, 0, 0)[1]
        if not first then return end
        if redis.pcall('PUBLISH', channel .. ':' .. first, message) ~= 0 then return first end
        redis.call('ZREM', waiters, first)
    end
end

-- One waiter is woken, and goes to the end of the line: if it is stopped, or loses the race, the
-- next release wakes another. When it takes the lock it leaves the line.
local function wake_first()
    local first = tell_first('0')
    if first then redis.pcall('ZADD', waiters, 'XX', now, first) end
end

local function leave_line()
    local was_first = redis.call('ZRANK', waiters, waiter) == 0
    redis.call('ZREM', waiters, waiter)
    -- It may have been told what was meant for the next: pass it on.
    if was_first or redis.call('EXISTS', lock) == 0 then wake_first() end
end

local function longest_lease()
    local longest = 1
    local fields = redis.call('HGETALL', hold)
    for i = 1, #fields, 2 do
        if string.find(fields[i], '^%x+$') then
            longest = math.max(longest, tonumber(fields[i + 1]))
        end
    end
    return longest
end

local function give_back_one(left)
    redis.call('HINCRBY', lock, owner, -1)
    if keep_ms > 0 then
        local until_ms = tonumber(redis.call('HGET', hold, 'until') or 0)
        redis.call('HSET', hold, 'until', math.max(until_ms, now + keep_ms))
    end
    local lease = longest_lease() -- of the holds that remain
    for _, key in ipairs({lock, info, hold}) do redis.call('PEXPIRE', key, lease) end
    return {STILL_HELD, left, 0}
end

local function leave_held(ms)
    redis.call('DEL', hold) -- no proof of it any more: what CMD left behind does not re-enter
    redis.call('PEXPIRE', lock, ms)
    redis.call('PEXPIRE', info, ms)
    tell_first('first ' .. ms)
    return {RELEASED, 0, 0}
end

local is_hash = redis.call('TYPE', lock).ok == 'hash'
if is_hash and redis.call('HEXISTS', lock, owner) == 0 then owner = waiter end
local ours = is_hash and redis.call('HEXISTS', lock, owner) == 1
if not ours or redis.call('HEXISTS', hold, id) == 0 then
    if not ours then -- what was said of us beside the lock is said of nobody now
        redis.call('HDEL', info, ARGV[1], waiter)
        redis.call('HDEL', hold, ARGV[1], waiter, id)
    end
    leave_line()
    return {LOST, 0, 0}
end
redis.call('HDEL', hold, id) -- the first write is one that is allowed when memory is out
local left = tonumber(redis.call('HGET', lock, owner)) - 1
if left > 0 then return give_back_one(left) end
local until_ms = tonumber(redis.call('HGET', hold, 'until') or 0)
keep_ms = math.max(keep_ms, until_ms - now)
if keep_ms > 0 then return leave_held(keep_ms) end
redis.call('DEL', lock, info, hold)
redis.pcall('PUBLISH', channel, '0') -- Redisson's waiters
wake_first()
return {RELEASED, 0, 0}
