-- inspect_kinds.lua: who holds a lock of each kind. False: the key is something else.

-- When rlock's holds end, {FIELD: {epoch ms...}}: KEYS 16, see holds.lua.
local function leases()
    local all, ends = redis.call('ZRANGE', KEYS[16], '0', '-1', 'WITHSCORES'), {}
    for i = 1, #all, 2 do
        local field = string.match(all[i], '^(.*) ') or ''
        ends[field] = ends[field] or {}
        ends[field][#ends[field] + 1] = tonumber(all[i + 1])
    end
    return ends
end

-- How many of these live, and how long the longest of them lasts.
local function living_of(ends)
    local number, longest = 0, 0
    for _, until_ms in ipairs(ends) do
        if until_ms > server.now then number, longest = number + 1, math.max(longest, until_ms - server.now) end
    end
    return number, longest
end

-- `run` and `fair`: {owner: holds}; see mutex.lua.
local function look_at_mutex(fields)
    local ends, number = leases(), 0
    for owner, held in pairs(fields) do
        number = number + 1
        if number > 2 or not server.is_owner(owner) or not string.find(held, '^[1-9]%d*$') then return false end
        local holds, ttl = inspect.number(held), redis.call('PTTL', key.lock)
        if ends[owner] then holds, ttl = living_of(ends[owner]) end
        if holds > 0 then inspect.add_holder(owner, {ttl = ttl, holds = holds}) end
    end
    view.kind = 'run'
    return true
end

local ASKED = 20
local lasts
-- How long one of Redisson's holds lasts: of a few readers' it is asked, the others' may last as long as the lock.
local function left_of_stranger(field, i)
    if string.find(field, ':write$') or ASKED == 0 then
        lasts = lasts or redis.call('PTTL', key.lock)
        return lasts
    end
    ASKED = ASKED - 1
    local before_owner = string.find(key.lock, '{', 1, true) and key.lock or '{' .. key.lock .. '}'
    return redis.call('PTTL', before_owner .. ':' .. field .. ':rwlock_timeout:' .. i)
end

-- The holds of a field that live, and how long the longest of them lasts.
local function living(field, holds, ends)
    if ends[field] then return living_of(ends[field]) end
    local number, longest = 0, -1
    for i = 1, math.min(holds, 1000) do
        local left = left_of_stranger(field, i)
        if left > 0 or left == -1 then number, longest = number + 1, math.max(longest, left) end
    end
    return number, longest
end

-- `read` and `write`: {mode, owner: read holds, owner:write: write holds}. One that does both is one
-- holder.
local function look_at_rw(fields)
    local mode = fields.mode
    if mode ~= 'read' and mode ~= 'write' then return false end
    view.kind = mode
    local ends, owners = leases(), {}
    for field, holds in pairs(fields) do
        local number, ttl = 0, 0
        if field ~= 'mode' then number, ttl = living(field, tonumber(holds) or 0, ends) end
        if number > 0 then
            local owner, writes = string.gsub(field, ':write$', '')
            local hold = owners[owner] or {ttl = -1, holds = 0}
            owners[owner] = hold
            hold.holds, hold.ttl = hold.holds + number, math.max(hold.ttl, ttl)
            hold.writes = hold.writes or writes > 0
        end
    end
    local wrote = false
    for owner, hold in pairs(owners) do
        wrote = wrote or hold.writes
        inspect.add_holder(owner, hold)
    end
    if #view.holders > 0 then view.kind = wrote and 'write' or 'read' end
    return true
end

function inspect.at_hash()
    local fields = inspect.hash(key.lock)
    if fields.mode then return look_at_rw(fields) end
    return look_at_mutex(fields)
end

local function hex(bytes)
    return (string.gsub(bytes, '.', function(byte) return ('%02x'):format(byte:byte()) end))
end

-- sem.lua's holds by the 12 bytes that all their permits begin with.
local function sem_holds()
    local holds = {}
    for id, value in pairs(inspect.hash(key.hold)) do
        local token, owner = string.match(value, '^(%S+) (.*)$')
        if owner and string.find(id, '^%x+$') and #id == 32 then
            holds[string.sub(id, 1, 24)] = {owner = owner, token = token, permits = 0, ttl = -1, holds = 1}
        end
    end
    return holds
end

-- Who holds leased permits, and how many have come back by themselves. Of one that is not rlock's
-- only the permit's id is known.
local function add_leased(holds)
    local permits, dead, in_use = redis.call('ZRANGE', inspect.permits, '0', '-1', 'WITHSCORES'), 0, 0
    for i = 1, #permits, 2 do
        local id, left = hex(permits[i]), tonumber(permits[i + 1]) - server.now
        local hold = holds[string.sub(id, 1, 24)]
        if hold then hold.leased = true end
        if left <= 0 then
            dead = dead + 1
        else
            in_use = in_use + 1
            if hold then
                hold.permits, hold.ttl = hold.permits + 1, math.max(hold.ttl, left)
            else
                inspect.add_holder(id, {ttl = left, holds = 1, permits = 1})
            end
        end
    end
    return dead, in_use
end

function inspect.at_sem(available)
    local holds = sem_holds()
    local lasting = redis.call('PTTL', key.hold) > 604800000 -- longer than a lease can: plain permits
    local dead, in_use = add_leased(holds)
    for _, hold in pairs(holds) do
        if not hold.leased and lasting then
            hold.permits = math.max(inspect.number(inspect.known(hold.owner).permits), 1)
            in_use = in_use + hold.permits
        end
        if hold.permits > 0 then inspect.add_holder(hold.owner, hold) end
    end
    view.kind = 'sem'
    if not available then return end
    available = available + dead
    view.available = available -- less than none: it was made smaller
    view.exhausted = available <= 0
    -- Whoever took the plain ones of Redisson is not told anywhere.
    if in_use > 0 or redis.call('GET', key.token) then view.total = available + in_use end
end

-- A number may be a semaphore or a latch. It is a semaphore when something beside it says so, and
-- where a latch would be gone.
function inspect.at_number(number)
    local set = false
    local sem = redis.call('TYPE', inspect.permits).ok == 'zset' or number <= 0
        or #view.waiters > 0 or redis.call('GET', key.token)
    for id, value in pairs(inspect.hash(key.hold)) do
        if #id == 32 and tonumber(value) then sem, set = false, true end -- latch.remember()
        if string.find(value, ' ') then sem = true break end
    end
    if sem then return inspect.at_sem(number) end
    view.kind, view.count, view.bare = 'latch', number, not set
end
