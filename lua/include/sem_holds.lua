-- sem_holds.lua: the leased permits of a semaphore: whose they are, how many, and until when; found, renewed, given
-- back.

-- for from, to in parts(list) do
local function parts(list)
    local to = 0
    return function()
        if to == #list then return nil end
        local from = to + 1
        to = math.min(to + sem.PART, #list)
        return from, to
    end
end

-- How many permits are in use, those of the dead included that nobody has collected.
function sem.in_use()
    return tonumber(plain or 0) + redis.call('ZCARD', sem.permits)
end

-- Those whose lease is over, a part of them.
function sem.some_dead()
    return redis.call('ZRANGEBYSCORE', sem.permits, '-inf', server.now_text, 'LIMIT', '0', sem.PART)
end

-- A hold's permits: for more than one the first 12 bytes of the first, and a number.
function sem.ids(id, permits)
    local ids = {sem.permit(id)}
    for i = 2, permits do ids[i] = string.sub(ids[1], 1, 12) .. struct.pack('>I4', i) end
    return ids
end

-- Their leases end then. Returns how many are new.
function sem.put(ids, ends)
    local scores, number = {}, 0
    for _, id in ipairs(ids) do
        scores[#scores + 1] = ends
        scores[#scores + 1] = id
    end
    for from, to in parts(scores) do
        number = number + redis.call('ZADD', sem.permits, unpack(scores, from, to))
    end
    return number
end

function sem.count_plain(number)
    if redis.call('HINCRBY', key.hold, 'plain', number) <= 0 then redis.call('HDEL', key.hold, 'plain') end
    return number
end

-- Of a hold's permits those whose lease is not over, and when it ends: all of them end together.
function sem.living(id, permits)
    local first = sem.permit(id)
    local ends = redis.call('ZSCORE', sem.permits, first)
    if not ends or tonumber(ends) <= server.now then return {} end
    if permits == 1 then return {first}, tonumber(ends) end
    local living = {}
    for _, each in ipairs(redis.call('ZRANGEBYSCORE', sem.permits, ends, ends)) do
        if string.sub(each, 1, 12) == string.sub(first, 1, 12) then living[#living + 1] = each end
    end
    return living, tonumber(ends)
end

-- Those of the call. What was given back, and left held for a while, is nobody's.
function sem.ours()
    if not sem.token() then return {} end
    return sem.living(call.id, call.permits)
end

-- Returns how many of them there were.
function sem.drop(ids)
    local number = 0
    for from, to in parts(ids) do
        number = number + redis.call('ZREM', sem.permits, unpack(ids, from, to))
    end
    return number
end

-- So many come back, and all are told. Returns how many are available; nil: it was lost.
function sem.give(number)
    local available = sem.available()
    if number == 0 or not available then return available end
    server.tell_all(redis.call('INCRBY', key.lock, number))
    return available + number
end

local function hex(permit)
    return #permit == 16 and ('%02x'):rep(16):format(string.byte(permit, 1, 16)) or nil
end

-- What stands beside the lock about the holders of these permits goes.
local function forget(permits)
    local ids, owners = {}, {}
    for _, permit in ipairs(permits) do ids[#ids + 1] = hex(permit) end
    if #ids == 0 then return end
    for _, known in ipairs(redis.call('HMGET', key.hold, unpack(ids))) do
        owners[#owners + 1] = known and string.match(known, '^%S+ (.*)$') or nil
    end
    if #owners == 0 then return end
    redis.call('HDEL', key.info, unpack(owners))
    for _, owner in ipairs(owners) do ids[#ids + 1] = owner end
    redis.call('HDEL', key.hold, unpack(ids))
end

-- What the dead took comes back, once, a part at a time. Returns how much, and how many are available if any came back.
function sem.collect()
    local dead = sem.some_dead()
    if #dead == 0 then return 0 end
    forget(dead)
    return #dead, sem.give(sem.drop(dead))
end

-- Each of the permits for a whole lease from now on, or as long as before if that is longer. An expiry is the first
-- write: it is allowed when memory is out, and after it the others are.
function sem.renew(ours, ends)
    sem.expire(call.lease_text)
    sem.put(ours, string.format('%d', math.max(ends, server.now + call.lease)))
end

-- ms until the next lease ends, and a permit comes back by itself; -1: none has a lease.
function sem.next_end()
    local ends = redis.call('ZRANGE', sem.permits, '0', '0', 'WITHSCORES')[2]
    return ends and math.max(ends - server.now, 0) or -1
end
