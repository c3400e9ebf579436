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

call.permits = tonumber(ARGV[4])

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

-- Those whose lease is over, a part of them.
function sem.some_dead()
    local set = is_braced and has_twin() and marked or sem.permits
    return redis.call('ZRANGEBYSCORE', set, '-inf', server.now, 'LIMIT', '0', sem.PART)
end

local function bytes(hex)
    return struct.pack('>I4I4I4I4', tonumber(string.sub(hex, 1, 8), 16), tonumber(string.sub(hex, 9, 16), 16),
        tonumber(string.sub(hex, 17, 24), 16), tonumber(string.sub(hex, 25, 32), 16))
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

-- Never sooner than they would have ended.
function sem.expire(ms)
    local left = redis.call('PTTL', key.hold)
    if left > tonumber(ms) then ms = left end
    redis.call('PEXPIRE', key.info, ms)
    redis.call('PEXPIRE', key.hold, ms)
end
