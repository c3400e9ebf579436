-- rw_leases.lua: the lease keys of read holds, and the mode of the lock, follow its holds: holds.lua.
local MOST = 1000 -- read holds of an owner, one in the other: so many keys are looked at, at once

function holds.added(field, id, number, ms)
    if not holds.is_write(field) then redis.call('SET', lease_key(field, number), id, 'PX', ms) end
end

-- Of an owner's lease keys the one with that id, and the first that is it or is gone; nil: there is none.
-- number: of the owner's read holds; nil: as many as there are. It is asked for only if the first is another's.
local function find_keys(owner, id, number)
    local keys, found, gap = {lease_key(owner, 1)}, nil, nil
    if redis.call('GET', keys[1]) == id then return keys[1], keys[1] end
    for i = 2, math.min(number or holds.count(owner), MOST) do keys[i] = lease_key(owner, i) end
    for i, kept in ipairs(redis.call('MGET', unpack(keys))) do
        if kept == id then found = keys[i] end
        if not kept or kept == id then gap = gap or keys[i] end
    end
    return found, gap
end

-- A key that is gone, of a server that has lost it, stands again.
function holds.renewed(field)
    if holds.is_write(field) then return end
    local found, gap = find_keys(field, call.id)
    if found then
        redis.call('PEXPIRE', found, math.max(redis.call('PTTL', found), call.lease))
    elseif gap then
        redis.call('SET', gap, call.id, 'PX', call.lease_text)
    end
end

-- The last key moves into the gap: Redisson looks at those from 1 to the number of holds.
local function close_gap(owner, id, number)
    local last = lease_key(owner, number)
    local gone, gap = find_keys(owner, id, number)
    if gone then redis.call('DEL', gone) end
    if gap and gap ~= last and redis.call('EXISTS', last) == 1 then redis.call('RENAME', last, gap) end
end

-- What --min-hold keeps of a write hold is one, too.
local function is_last_writer(field)
    local owner = holds.owner_of(field)
    local holder, kept = string.gsub(owner, '#kept$', '')
    return holds.count(field) == 0
        and holds.count(rw.write_field(kept > 0 and holder or holds.kept_by(owner))) == 0
end

-- The only key of a reader that died is over. Of several the dead's are not among KEYS.
function holds.dropped(field, id, number)
    if not holds.is_write(field) then
        if id == call.id or number > 1 then pcall(close_gap, field, id, number) end
    elseif number > 0 and is_last_writer(field) then
        redis.call('HSET', key.lock, 'mode', 'read')
    end
end

-- Whether a hash of so many fields has owners of Redisson's: they stand nowhere else.
function rw.has_strangers(mode, fields, ours)
    return (mode == 'read' or ours == 0) and fields > 1 + ours
end

-- For how long the longest read hold stands, of Redisson's and ours, ms; nil: there are too many to ask for each, or one
-- has no end.
local function longest_read()
    local entries, longest, asked = redis.call('HGETALL', key.lock), nil, 0
    for at = 1, #entries, 2 do
        local number = entries[at] ~= 'mode' and not holds.is_write(entries[at]) and tonumber(entries[at + 1]) or 0
        asked = asked + number
        if asked > MANY then return nil end
        for i = 1, number do
            local left = redis.call('PTTL', lease_key(entries[at], i))
            if left == -1 then return nil end
            longest = left > (longest or 0) and left or longest
        end
    end
    return longest
end

-- After holds have ended: see holds.settle(). Beside Redisson's readers the lock is left as it stands where they are
-- too many. Returns the mode, nil: nobody is left; and for how long it stands.
function rw.settle()
    local fields, mode = redis.call('HLEN', key.lock), redis.call('HGET', key.lock, 'mode')
    if fields > 1 and rw.has_strangers(mode, fields, redis.call('HLEN', key.info)) then
        local longest = mode == 'read' and fields <= MANY and longest_read()
        if longest then redis.call('PEXPIRE', key.lock, longest) end
        return mode, redis.call('PTTL', key.lock)
    end
    local left = holds.settle()
    if left then return mode, left end
    redis.call('DEL', key.lock)
end
