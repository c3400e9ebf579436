-- inspect_kinds.lua: the holders of a lock of each kind. A step goes on at a cursor, and returns the next one, nil: all is
-- done.

-- After so many entries.
local function next_after(number, cursor)
    inspect.left = inspect.left - number - 1
    return cursor ~= '0' and cursor or nil
end

-- Some fields and values of a hash, and the next cursor. A small hash comes whole, whatever COUNT says: it is gone
-- through from its end, for a field that goes moves those behind it to the front. '<20': the first twenty are left.
local function scan_fields(name, cursor)
    local rest = string.match(cursor, '^<(%d+)$')
    local scanned = redis.call('HSCAN', name, rest and '0' or cursor, 'COUNT', inspect.AT_ONCE)
    local fields, is_whole = scanned[2], (rest or cursor == '0') and scanned[1] == '0'
    if not is_whole then return fields, next_after(#fields / 2, scanned[1]) end
    local last = math.min(tonumber(rest) or #fields, #fields / 2)
    local first = math.max(last - inspect.AT_ONCE, 0)
    return {unpack(fields, 2 * first + 1, 2 * last)}, next_after(last - first, first > 0 and '<' .. first or '0')
end

local function owner_of(field)
    local owner, writes = string.gsub(field, ':write$', '')
    return owner, writes > 0
end

local ASKED = 20
-- How many of Redisson's read holds of one owner live, and how long the longest lasts. A few are asked, the others may
-- last as long as the lock.
local function living_reads(owner, holds, lasts)
    local asked, number, longest = math.min(holds, ASKED), 0, -1
    ASKED = ASKED - asked
    for i = 1, asked do
        local left = redis.call('PTTL', lease_key(owner, i))
        if left > 0 or left == -1 then number, longest = number + 1, math.max(longest, left) end
    end
    if holds == asked then return number, longest end
    return number + holds - asked, math.max(longest, lasts)
end

-- The owners in the hash. How long Redisson's last is asked here; those that info knows are rlock's.
local function look_at_fields(cursor)
    local fields, next_cursor = scan_fields(key.lock, cursor)
    for i = 1, #fields, 2 do
        local owner, writes = owner_of(fields[i])
        local number, ttl = inspect.number(fields[i + 1]), redis.call('PTTL', key.lock)
        if number > 0 and view.mode and not writes and redis.call('HSTRLEN', key.info, owner) == 0 then
            number, ttl = living_reads(owner, number, ttl)
        end
        if number > 0 then inspect.add_holder(owner, {id = fields[i], ttl = ttl, holds = number, writes = writes}) end
    end
    return next_cursor
end

-- rlock's: each hold ends by itself.
local function look_at_leases(cursor)
    local scanned = redis.call('ZSCAN', inspect.leases, cursor, 'COUNT', inspect.AT_ONCE)
    local members = scanned[2]
    for i = 1, #members, 2 do
        local field, id = string.match(members[i], '^(.*) (.*)$')
        local owner, writes = owner_of(field or '')
        inspect.add_part(owner, id, members[i + 1] - server.now, writes)
    end
    return next_after(#members / 4, scanned[1])
end

-- `read` and `write`: {mode, owner: read holds, owner:write: write holds}; `run` and `fair`: {owner: holds}, and
-- perhaps another for what --min-hold keeps. True: it is one of these, by the first fields.
local function is_hash_lock()
    view.mode = redis.call('HGET', key.lock, 'mode')
    if view.mode and view.mode ~= 'read' and view.mode ~= 'write' then return false end
    local scanned = redis.call('HSCAN', key.lock, '0', 'COUNT', '10')
    local fields = scanned[2]
    if not view.mode and (scanned[1] ~= '0' or #fields > 4) then return false end
    for i = 1, math.min(#fields, 20), 2 do
        local is_hold = server.is_owner(fields[i]) and string.find(fields[i + 1], '^[1-9]%d*$')
        if not is_hold and fields[i] ~= 'mode' then return false end
    end
    return true
end

-- The number of an owner's leased permits, if that hold is the one that its entry is about.
local function leased_by(owner, id)
    local own_id, permits = string.match(redis.call('HGET', key.hold, owner) or '', '^%S+ (%x+) (%d+)$')
    return own_id == id and inspect.number(permits) or 0
end

-- Plain permits, which have no lease, stand for longer than a lease can.
local function lasting() return redis.call('PTTL', key.hold) > 604800000 end

-- A semaphore's holds, sem.lua; also one whose leases are over, with no permits: its permits, if need be, are counted.
local function look_at_sem(cursor)
    local fields, next_cursor = scan_fields(key.hold, cursor)
    local lasts = lasting()
    for i = 1, #fields, 2 do
        local id, token, owner = fields[i], string.match(fields[i + 1], '^(%S+) (.*)$')
        if owner and #id == 32 and string.find(id, '^%x+$') then
            local hold = {id = id, token = token, permits = 0, ttl = -1, holds = 1}
            local ends = redis.call('ZSCORE', inspect.permits, permit_of(id))
            if ends and ends - server.now > 0 then
                hold.permits, hold.ttl = leased_by(owner, id), ends - server.now
            elseif not ends and lasts then
                hold.permits = math.max(inspect.number(inspect.known(key.info, owner).permits), 1)
            end
            inspect.add_holder(owner, hold)
        end
    end
    return next_cursor
end

-- Each of the leased permits by itself: 16 bytes, of which a hold's have the first 12 in common.
local function look_at_permits(cursor)
    local scanned = redis.call('ZSCAN', inspect.permits, cursor, 'COUNT', inspect.AT_ONCE)
    local permits = scanned[2]
    for i = 1, #permits, 2 do
        local id, left = hex_of(permits[i]), permits[i + 1] - server.now
        if id and left > 0 then inspect.add_part(id, id, left, false) end
    end
    return next_after(#permits / 4, scanned[1])
end

-- available: nil, the number was lost.
local function see_sem(available)
    view.kind = 'sem'
    view.leased = redis.call('ZCOUNT', inspect.permits, '(' .. server.now_text, '+inf')
    local in_use = view.leased + (lasting() and tonumber(redis.call('HGET', key.hold, 'plain') or 0) or 0)
    if not available then return end
    available = available + redis.call('ZCOUNT', inspect.permits, '-inf', server.now_text)
    view.available = available -- less than none: it was made smaller
    view.exhausted = available <= 0
    -- Redisson writes down no holders of plain permits.
    if in_use > 0 or inspect.get(key.token) then view.total = available + in_use end
end

-- Whose what stands beside a number is: true, a semaphore's; false, a latch's (latch.remember()); nil: nobody's.
local function is_sem_by_hold()
    local fields = redis.call('HSCAN', key.hold, '0', 'COUNT', '100')[2]
    for i = 1, #fields, 2 do
        if string.find(fields[i + 1], ' ', 1, true) then return true end
        if fields[i] == 'latch' then return false end
    end
end

-- A number may be a semaphore or a latch. It is a semaphore when something beside it says so, and
-- where a latch would be gone.
local function see_number(number, has_permits)
    local is_sem = is_sem_by_hold()
    if is_sem == nil then
        is_sem = has_permits or number <= 0 or #view.waiters > 0 or inspect.get(key.token)
        view.bare = not is_sem
    end
    if is_sem then see_sem(number) else view.kind, view.count = 'latch', number end
end

-- The steps through what holds it, and whether it is a lock.
function inspect.kind()
    local kind, waited_for = redis.call('TYPE', key.lock).ok, view.waited_for
    local has_permits = (server.typed('ZCOUNT', inspect.permits, '-inf', '+inf') or 0) > 0
    if kind == 'hash' then
        if not is_hash_lock() then return {}, false end
        view.kind = view.mode or waited_for == 'fair' and 'fair' or 'run'
        return {look_at_fields, look_at_leases}, true
    elseif kind == 'string' then
        local number = inspect.get(key.lock) and server.integer(key.lock)
        if number then see_number(number, has_permits) end
        return view.kind == 'sem' and {look_at_sem, look_at_permits} or {}, number
    elseif kind == 'none' and has_permits then -- its number was lost
        see_sem(nil)
        return {look_at_sem, look_at_permits}, true
    end
    view.kind = waited_for or ''
    return {}, kind == 'none'
end
