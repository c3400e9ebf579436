-- sem.lua: a semaphore with leased permits, Redisson's: lock is a string, the permits available;
-- beside it
-- KEYS  7 permits: zset {permit id, 16 bytes: epoch ms at which its lease ends}
--       8 wants: hash {waiter: permits it asks for, when more than one}
-- hold: {hold id: "token owner", or "- owner" when it is left held without one,
--        owner: the same, "token hold-id permits", 'plain': how many plain ones are in use}
local sem = {
    permits = KEYS[7], wants = KEYS[8],
    PART = 2000, -- so many permits at once: Lua can't pass many more
}

-- x and {x} have one set of permits. What rlock takes for {x} begins with "{rl}", and stands in a set
-- of its own as well, so that they can be counted apart.
local twin = server.twin()
local is_braced = twin and string.sub(key.lock, 1, 1) == '{'
local marked = twin and 'rlock_permits:' .. (is_braced and key.lock or twin)

-- What is known of the call's hold, and how many plain permits are in use; those that Redisson's clients
-- have taken are written nowhere.
local hold, plain = unpack(redis.call('HMGET', key.hold, call.id, 'plain'))

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

-- nil: it was never set up, or was lost; false: the key is something else.
function sem.available()
    local text = redis.pcall('GET', key.lock)
    if not text then return nil end
    if type(text) == 'table' then return server.is_wrong_kind(text) end
    return #text <= 16 and string.find(text, '^-?%d+$') and tonumber(text) or false
end

-- The other name is a semaphore as well. Redisson's permits do not say whose they are: x's, if there is one.
local function has_twin() return type(redis.pcall('GET', twin)) == 'string' end

-- How many permits are in use, those of the dead included that nobody has collected.
function sem.in_use()
    local number = tonumber(plain or 0)
    if is_braced and has_twin() then return number + redis.call('ZCARD', marked) end
    local leased = redis.call('ZCARD', sem.permits)
    if leased > 0 and twin and not is_braced then leased = leased - redis.call('ZCARD', marked) end
    return number + leased
end

function sem.count_plain(number)
    if redis.call('HINCRBY', key.hold, 'plain', number) <= 0 then redis.call('HDEL', key.hold, 'plain') end
end

local function bytes(hex)
    return struct.pack('>I4I4I4I4', tonumber(string.sub(hex, 1, 8), 16), tonumber(string.sub(hex, 9, 16), 16),
        tonumber(string.sub(hex, 17, 24), 16), tonumber(string.sub(hex, 25, 32), 16))
end

local function hex(permit)
    return #permit == 16 and ('%02x'):rep(16):format(string.byte(permit, 1, 16)) or nil
end

-- The ids of a hold's permits: its own, and for more than one its first 12 bytes and a number.
function sem.ids(id, permits)
    local ids = {bytes(id)}
    for i = 2, permits do ids[i] = string.sub(ids[1], 1, 12) .. struct.pack('>I4', i) end
    return ids
end

-- nil: the call has no hold, or gave it back.
function sem.token() return string.match(hold or '', '^%d+') end

-- Writes down whose the call's hold is; token: '-' when it is left held.
function sem.note(token)
    redis.call('HSET', key.hold, call.id, token .. ' ' .. call.owner,
        call.owner, token .. ' ' .. call.id .. ' ' .. call.permits)
end

-- When the leases of these end; false: it is not there.
function sem.ends(ids)
    local all = {}
    for from, to in parts(ids) do
        local some = redis.call('ZMSCORE', sem.permits, unpack(ids, from, to))
        for _, ends in ipairs(some) do all[#all + 1] = ends end
    end
    return all
end

-- Those of the call's permits whose lease is not over. What was given back, and left held for a
-- while, is nobody's.
function sem.ours()
    local ours, ids = {}, sem.token() and sem.ids(call.id, call.permits) or {}
    for i, ends in ipairs(sem.ends(ids)) do
        if ends and tonumber(ends) > server.now then ours[#ours + 1] = ids[i] end
    end
    return ours
end

-- Their leases end then; GT: not sooner than they would, XX: of those that stand.
function sem.put(ids, ends, flag)
    local scores = {}
    for _, id in ipairs(ids) do
        scores[#scores + 1] = ends
        scores[#scores + 1] = id
    end
    for from, to in parts(scores) do
        redis.call('ZADD', sem.permits, flag, unpack(scores, from, to))
        if is_braced then redis.call('ZADD', marked, flag, unpack(scores, from, to)) end
    end
end

-- Returns how many of them there were.
function sem.drop(ids)
    local number = 0
    for from, to in parts(ids) do
        number = number + redis.call('ZREM', sem.permits, unpack(ids, from, to))
        if is_braced then redis.call('ZREM', marked, unpack(ids, from, to)) end
    end
    return number
end

-- So many come back, and all are told.
function sem.give(number)
    if number > 0 and sem.available() then server.tell_all(redis.call('INCRBY', key.lock, number)) end
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
    redis.call('HDEL', key.hold, unpack(ids))
    redis.call('HDEL', key.hold, unpack(owners))
    redis.call('HDEL', key.info, unpack(owners))
end

-- What the dead took comes back, once, a part at a time. Returns how much.
function sem.collect()
    local set = is_braced and has_twin() and marked or sem.permits
    local found = redis.call('ZRANGEBYSCORE', set, '-inf', server.now, 'LIMIT', 0, sem.PART)
    local dead = {}
    for _, permit in ipairs(found) do
        if is_braced or string.sub(permit, 1, 4) ~= '{rl}' then dead[#dead + 1] = permit end
    end
    if #dead > 0 then
        forget(dead)
        sem.give(sem.drop(dead))
    end
    return #dead
end

-- Never sooner than they would have ended.
function sem.expire(ms)
    local left = redis.call('PTTL', key.hold)
    if left > tonumber(ms) then ms = left end
    redis.call('PEXPIRE', key.info, ms)
    redis.call('PEXPIRE', key.hold, ms)
end

-- Each of the permits for a whole lease from now on. An expiry is the first write: it is allowed
-- when memory is out, and after it the others are.
function sem.renew(ours)
    sem.expire(ARGV[2])
    sem.put(ours, server.now + call.lease, 'GT')
end

-- ms until the next lease ends, and a permit comes back by itself; -1: none has a lease.
function sem.next_end()
    local ends = redis.call('ZRANGE', sem.permits, 0, 0, 'WITHSCORES')[2]
    return ends and math.max(ends - server.now, 0) or -1
end
