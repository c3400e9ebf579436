-- rw_take.lua: how `read` and `write` take the hash that they share.
rw.A_FEW = 3

local fields, ours -- when the script begins: of the lock, and how many of rlock's have it

-- Some of the hash's fields with their values, whichever: {field, value...}.
local function some_fields(count)
    local from = server.now % 65536 -- anything will do for a cursor
    local some = redis.call('HSCAN', key.lock, string.format('%d', from), 'COUNT', count)[2]
    return #some > 0 and some or redis.call('HSCAN', key.lock, '0', 'COUNT', count)[2]
end

-- Whose hash it is: of a hash that is not rlock's at all a few fields tell.
local function is_lock()
    if fields == 1 or ours > 0 then return true end -- 1: the last has just gone
    local some = some_fields(16)
    for i = 1, #some, 2 do
        if server.is_owner(some[i]) then return true end
    end
    return false
end

-- 'read', 'write'; nil when it is free, false when the key is something else.
-- left: ms until it expires, -1: never, -2: it is free.
function rw.mode(left)
    if left == -2 then return nil end
    local mode = server.typed('HGET', key.lock, 'mode')
    if mode ~= 'read' and mode ~= 'write' then return false end
    fields, ours = redis.call('HLEN', key.lock), redis.call('HLEN', key.info)
    return is_lock() and mode
end

-- Whether all the leases of one of Redisson's readers are over. They are not asked for if there are too many.
local function is_dead(field, number)
    if number > rw.A_FEW then return false end
    for i = number, 1, -1 do
        if redis.call('PTTL', lease_key(field, i)) ~= -2 then return false end
    end
    return true
end

-- Each request looks at a few of Redisson's readers. Redisson numbers its holds itself: of one reader's all go or none.
local function drop_strangers()
    local some, dead = some_fields(rw.A_FEW), {}
    local first = server.now % (#some / 2) -- a small hash comes whole, always in the same order
    for n = 0, math.min(rw.A_FEW, #some / 2) - 1 do
        local at = 2 * ((first + n) % (#some / 2)) + 1
        local number = rw.holds_of_stranger(some[at], some[at + 1])
        if number > 0 and is_dead(some[at], number) then dead[#dead + 1] = some[at] end
    end
    return #dead > 0 and redis.call('HDEL', key.lock, unpack(dead)) > 0
end

-- Takes out a few of what the dead left. Returns the mode, nil when nobody is left, and for how long it stands.
function rw.sweep(mode, left)
    if call.has_cleaned then return mode, left end
    local swept = holds.bury() or mode == 'read' and fields > 1 + ours and drop_strangers()
    if not swept then return mode, left end
    call.has_cleaned = true
    return rw.settle()
end
