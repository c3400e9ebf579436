-- Takes a mutex, re-enters it, or says who holds it. One round trip.
--
-- KEYS  1 lock: hash {owner: holds}        2 fencing token: counter
--       3 info: hash {owner: JSON}         4 hold: hash {owner: token, hold id: lease ms}
--       5 waiters: zset {owner: epoch ms}
-- ARGV  1 owner  2 lease ms  3 attempt id (becomes the hold's id)  4 permits (1)
--       5 channel  6 owner and 7 token of an enclosing hold, or ''
--       8 '1' to stand in line when busy, '0' not to
--       9 host  10 pid  11 user  12 command: what others are shown
-- Reply {GRANTED, token, lease ms} | {REENTERED, token, lease ms} | {WRONG_KIND, 0, 0}
--       {BUSY, ms until it expires (-1: never), place in line,
--        owner, host, pid, user, command, held since ms}
local GRANTED, REENTERED, BUSY, WRONG_KIND = 1, 2, 0, -1
local WAITERS_TTL = 15000 -- three caps of a waiter's sleep: the list outlives no waiter by more

local lock, token, info, hold, waiters = unpack(KEYS)
local owner, lease, id, channel = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[5]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The one field of a mutex; nil when it is free, false when the key is something else.
local function holder_of(key)
    local kind = redis.call('TYPE', key).ok
    if kind == 'none' then return nil end
    if kind ~= 'hash' or redis.call('HLEN', key) ~= 1 then return false end
    local field = redis.call('HGETALL', key)
    return field[1] ~= 'mode' and string.find(field[2], '^[1-9]%d*$') and field[1] or false
end

local function expire(ms)
    for _, key in ipairs({lock, info, hold}) do redis.call('PEXPIRE', key, ms) end
end

-- Who is now first in line listens on the shared channel too, from here on. One that hears nothing
-- is dead and loses its place. No answer of this is worth an error: the lock is taken already.
local function tell_first()
    while true do
        local first = redis.call('ZRANGE', waiters, 0, 0)[1]
        if not first then return end
        local heard = redis.pcall('PUBLISH', channel .. ':' .. first, 'first ' .. lease)
        if heard ~= 0 then return end
        redis.call('ZREM', waiters, first)
    end
end

local function grant()
    -- INCR comes first: it is refused when memory is out, and a hole in the tokens harms nobody.
    -- PEXPIRE on a key that is not there asks whether we may: no lock without a lease, ever.
    local number = redis.call('INCR', token)
    redis.call('PEXPIRE', lock, lease)
    redis.call('DEL', info, hold)
    redis.call('ZREM', waiters, owner)
    redis.call('HSET', lock, owner, 1)
    redis.call('HSET', hold, owner, number, id, lease)
    redis.call('HSET', info, owner, cjson.encode({
        host = ARGV[9], pid = tonumber(ARGV[10]), user = ARGV[11], command = ARGV[12], since = now}))
    expire(lease)
    tell_first()
    return {GRANTED, number, lease}
end

-- A hold's lease is never shortened by another hold of the same owner.
local function keep(code, holder)
    local left = math.max(redis.call('PTTL', lock), lease)
    expire(left)
    return {code, tonumber(redis.call('HGET', hold, holder)), left}
end

local function reenter(holder)
    redis.call('HINCRBY', lock, holder, 1)
    redis.call('HSET', hold, id, lease)
    redis.call('ZREM', waiters, owner)
    return keep(REENTERED, holder)
end

local function place_in_line()
    if ARGV[8] == '0' then return redis.call('ZCARD', waiters) + 1 end
    redis.pcall('ZADD', waiters, 'NX', now, owner) -- out of memory: no place, but still an answer
    redis.call('PEXPIRE', waiters, WAITERS_TTL)
    return (redis.call('ZRANK', waiters, owner) or -1) + 1
end

local function busy(holder)
    local read, known = pcall(cjson.decode, redis.call('HGET', info, holder) or '')
    if not read or type(known) ~= 'table' then known = {} end
    local since = tonumber(known.since)
    return {BUSY, redis.call('PTTL', lock), place_in_line(), holder, tostring(known.host or ''),
        tonumber(known.pid) or 0, tostring(known.user or ''), tostring(known.command or ''),
        since and math.max(now - since, 0) or 0}
end

local holder = holder_of(lock)
if holder == false then return {WRONG_KIND, 0, 0} end
if not holder then return grant() end
if redis.call('HEXISTS', hold, id) == 1 then -- this very attempt was granted; its answer was lost
    return keep(holder == owner and GRANTED or REENTERED, holder)
end
if holder == ARGV[6] and redis.call('HGET', hold, holder) == ARGV[7] then return reenter(holder) end
return busy(holder)
