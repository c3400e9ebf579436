-- rw.lua: the one hash of `read` and `write`, Redisson's: {mode: read|write, FIELD: holds}, FIELD
-- being the owner for reads and OWNER:write for writes. Every read hold has a lease of its own, the
-- string {NAME}:OWNER:rwlock_timeout:I; the hash lives as long as the longest of all.
--
-- KEYS  7 marker: string, the writer that waits, for whom new readers are held back
--       8 waiters and 9 beats of the line of those writers
-- hold: {owner: token, FIELD:I: "id lease", OWNER:write: epoch ms at which the write lease ends,
--        'until': see rw_release}
local rw = {marker = KEYS[7], writers = {waiters = KEYS[8], beats = KEYS[9]}, MARKER_TTL = 6000}
local before_owner = (string.find(key.lock, '{', 1, true) and key.lock or '{' .. key.lock .. '}') .. ':'

function rw.write_field(owner) return owner .. ':write' end

function rw.owner_of(field) return (string.gsub(field, ':write$', '')) end

function rw.lease_key(owner, i) return before_owner .. owner .. ':rwlock_timeout:' .. i end

local function is_write(field) return string.find(field, ':write$') ~= nil end

-- Not one of rlock's: it has Redisson's holders, or it is somebody else's hash.
local function is_held()
    local fields = redis.call('HGETALL', key.lock)
    for i = 1, #fields, 2 do
        if server.is_owner(fields[i]) then return true end
    end
    return #fields == 2 -- the mode alone: the last has just gone
end

-- 'read', 'write'; nil when it is free, false when the key is something else.
function rw.mode()
    local kind = redis.call('TYPE', key.lock).ok
    if kind == 'none' then return nil end
    local mode = kind == 'hash' and redis.call('HGET', key.lock, 'mode')
    if mode ~= 'read' and mode ~= 'write' then return false end
    return (redis.call('TYPE', key.hold).ok ~= 'none' or is_held()) and mode or false
end

function rw.count(field) return tonumber(redis.call('HGET', key.lock, field) or 0) end

-- One hold more. A write's lease is the hash's.
function rw.add(field)
    if not is_write(field) then
        redis.call('SET', rw.lease_key(field, rw.count(field) + 1), 1, 'PX', call.lease)
    end
    local i = redis.call('HINCRBY', key.lock, field, 1)
    redis.call('HSET', key.hold, field .. ':' .. i, call.id .. ' ' .. call.lease)
    if is_write(field) then rw.write_until(field, server.now + call.lease) end
end

function rw.write_until(field, ends)
    local before = tonumber(redis.call('HGET', key.hold, field) or 0)
    redis.call('HSET', key.hold, field, math.max(before, ends))
end

-- False: its lease is over, and others may count it as dead already.
function rw.alive(field, i)
    if is_write(field) then
        return tonumber(redis.call('HGET', key.hold, field) or 0) > server.now
    end
    return redis.call('PTTL', rw.lease_key(field, i)) ~= -2
end

-- A whole lease for one hold from now on. An expiry is the first write: it is allowed when memory
-- is out, and after it the others are.
function rw.renew(field, i)
    server.prolong(call.lease)
    if is_write(field) then
        rw.write_until(field, server.now + call.lease)
    else
        local lease = rw.lease_key(field, i)
        redis.call('PEXPIRE', lease, math.max(redis.call('PTTL', lease), call.lease))
    end
    redis.call('HSET', key.hold, field .. ':' .. i, call.id .. ' ' .. call.lease)
end

-- Which of a field's holds the call is about, and how many there are; nil: none.
function rw.find(field)
    local holds = rw.count(field)
    for i = 1, holds do
        local known = redis.call('HGET', key.hold, field .. ':' .. i)
        if known and string.sub(known, 1, #call.id + 1) == call.id .. ' ' then return i, holds end
    end
end

-- Where the call's hold is, under one of these owners: field, number, holds of the field; or nil.
function rw.locate(...)
    for _, owner in ipairs({...}) do
        for _, field in ipairs({owner, rw.write_field(owner)}) do
            local i, holds = rw.find(field)
            if i then return field, i, holds end
        end
    end
end

-- The last of a field's holds takes the number of the one that goes.
local function move_last(field, i, last)
    local from, to = field .. ':' .. last, field .. ':' .. i
    local known = redis.call('HGET', key.hold, from)
    if known then redis.call('HSET', key.hold, to, known) else redis.call('HDEL', key.hold, to) end
    if not is_write(field) and rw.alive(field, last) then
        redis.call('RENAME', rw.lease_key(field, last), rw.lease_key(field, i))
    end
end

-- The holds of a field that still belong to someone, and the longest of their leases.
local function owned(field)
    local number, longest = 0, 0
    for i = 1, rw.count(field) do
        local known = redis.call('HGET', key.hold, field .. ':' .. i)
        if known then
            number = number + 1
            longest = math.max(longest, tonumber(string.match(known, '%d+$')))
        end
    end
    return number, longest
end

-- An owner without a hold proves nothing any more; without a field nobody asks who it was.
function rw.forget(owner)
    local write = rw.write_field(owner)
    if owned(owner) + owned(write) == 0 then redis.call('HDEL', key.hold, owner) end
    if rw.count(owner) + rw.count(write) == 0 then redis.call('HDEL', key.info, owner) end
end

function rw.drop(field, i, holds)
    if not is_write(field) then redis.call('DEL', rw.lease_key(field, i)) end
    if i < holds then move_last(field, i, holds) end
    redis.call('HDEL', key.hold, field .. ':' .. holds)
    if holds > 1 then
        redis.call('HINCRBY', key.lock, field, -1)
        if is_write(field) then -- a whole lease, but no longer than those that remain ask for
            local _, longest = owned(field)
            if rw.alive(field) then redis.call('HSET', key.hold, field, server.now + longest) end
        end
    else
        redis.call('HDEL', key.lock, field)
        if is_write(field) then redis.call('HDEL', key.hold, field) end
    end
    rw.forget(rw.owner_of(field))
end

-- Takes out the dead holds of one field; returns for how long the longest of the others lasts. How
-- long a write of Redisson's lasts only the hash knows.
local function sweep_field(field, holds)
    local longest = 0
    if is_write(field) then
        local ends = tonumber(redis.call('HGET', key.hold, field))
        if not ends then return redis.call('PTTL', key.lock) end
        if ends > server.now then return ends - server.now end
        for i = holds, 1, -1 do rw.drop(field, i, i) end
        return 0
    end
    local dead = {}
    for i = holds, 1, -1 do
        local left = redis.call('PTTL', rw.lease_key(field, i))
        if left == -2 then dead[#dead + 1] = i end
        longest = math.max(longest, left)
    end
    -- A client of Redisson's numbers its holds itself: of those all go or none.
    if #dead < holds and owned(field) == 0 then return longest end
    for n, i in ipairs(dead) do rw.drop(field, i, holds - n + 1) end
    return longest
end

-- Takes out what the dead left. Returns the mode, nil when nobody is left, and how long the
-- longest hold lasts.
function rw.sweep()
    local longest, writes, holders = 0, false, 0
    local fields = redis.call('HGETALL', key.lock)
    for i = 1, #fields, 2 do
        local holds = fields[i] ~= 'mode' and tonumber(fields[i + 1])
        if holds then
            longest = math.max(longest, sweep_field(fields[i], holds))
            if rw.count(fields[i]) > 0 then
                holders = holders + 1
                writes = writes or is_write(fields[i])
            end
        end
    end
    if holders == 0 then
        redis.call('DEL', key.lock, key.info, key.hold)
        return nil, 0
    end
    local mode = writes and 'write' or 'read'
    redis.call('HSET', key.lock, 'mode', mode)
    return mode, longest
end

-- After holds have ended: the mode of those that remain, whose longest lease is the hash's.
function rw.settle()
    local mode, longest = rw.sweep()
    server.expire(longest)
    return mode
end

-- Someone that holds, a writer rather than a reader.
function rw.holder()
    local some = ''
    local fields = redis.call('HGETALL', key.lock)
    for i = 1, #fields, 2 do
        if is_write(fields[i]) then return rw.owner_of(fields[i]) end
        if fields[i] ~= 'mode' then some = fields[i] end
    end
    return some
end

-- The writer that waited goes; the next one's marker stands in its place.
function rw.pass_marker_on(owner)
    line.remove(rw.writers, owner)
    if redis.call('GET', rw.marker) ~= owner then return end
    local heir = redis.call('ZRANGE', rw.writers.waiters, 0, 0)[1]
    if heir then
        redis.call('SET', rw.marker, heir, 'PX', rw.MARKER_TTL)
    else
        redis.call('DEL', rw.marker)
    end
end

local function next_writer()
    return redis.call('GET', rw.marker) or redis.call('ZRANGE', rw.writers.waiters, 0, 0)[1]
end

-- Wakes the writer that waits, or without one all others. Who does not listen is dead.
function rw.wake()
    local writer = next_writer()
    while writer do
        if server.tell(writer, '0') then return end
        rw.pass_marker_on(writer)
        writer = next_writer()
    end
    for _, waiter in ipairs(redis.call('ZRANGE', key.waiters, 0, -1)) do
        if not server.tell(waiter, '0') then redis.call('ZREM', key.waiters, waiter) end
    end
end
