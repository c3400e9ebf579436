-- rw_holds.lua: what holds of `read` and `write` are beside the hash: holds.lua.
local MANY = 8 -- read holds, one in the other, or of all: so many keys are looked at

-- For Redisson a read hold whose key is gone is over.
function holds.stands(field)
    local number = holds.count(field)
    return number > 1 or number == 1 and (holds.is_write(field) or redis.call('EXISTS', rw.lease_key(field, 1)) == 1)
end

function holds.added(field, number, ms)
    if not holds.is_write(field) then redis.call('SET', rw.lease_key(field, number), call.id, 'PX', ms) end
end

-- The lease key of one of an owner's read holds; nil: it is gone.
local function lease_key_of(owner, id, number)
    for i = 1, math.min(number, MANY) do
        local lease_key = rw.lease_key(owner, i)
        if redis.call('GET', lease_key) == id then return lease_key end
    end
end

function holds.renewed(field)
    local lease_key = not holds.is_write(field) and lease_key_of(field, call.id, MANY)
    if lease_key then redis.call('PEXPIRE', lease_key, math.max(redis.call('PTTL', lease_key), call.lease)) end
end

-- The last key moves into the gap: Redisson looks at those from 1 to the number of holds.
local function close_gap(owner, id, number)
    local last, gone = rw.lease_key(owner, number), lease_key_of(owner, id, number)
    if gone then redis.call('DEL', gone) end
    if gone == last then return end
    for i = 1, math.min(number - 1, MANY) do
        local lease_key = rw.lease_key(owner, i)
        if redis.call('EXISTS', lease_key) == 0 then
            if redis.call('EXISTS', last) == 1 then redis.call('RENAME', last, lease_key) end
            return
        end
    end
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

function holds.left_beside(owner)
    local most = 0
    for i = 1, math.min(holds.count(owner), MANY) do
        most = math.max(most, redis.call('PTTL', rw.lease_key(owner, i)))
    end
    return most
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
            local left = redis.call('PTTL', rw.lease_key(entries[at], i))
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
