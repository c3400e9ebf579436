-- rw_leases.lua: the lease keys of read holds, and the mode of the lock, follow its holds: holds.lua, rw.lua.
local MANY_IDS = 64 -- read holds of one owner, one in the other: those that are looked at, at once
local MANY = 8 -- read holds of Redisson's, of all: the lease keys of so many are asked for one by one

-- An owner's read holds, as its lease key has them: some may be over. first: the id that stands before all.
local function ids_of_reads(owner, first)
    local ids = {first}
    for id in string.gmatch(server.typed('GET', lease_key(owner)) or '', '%S+') do
        if id ~= first then ids[#ids + 1] = id end
    end
    return ids
end

-- The owner's lease key has this id and those that it had, as far as leases has them, too, and lasts as long as the
-- longest of these holds: one that a server has lost stands again. Of very many the last are not looked at.
function holds.changed(field, id)
    if holds.is_write(field) then return end
    local name, ids, living, longest = lease_key(field), ids_of_reads(field, id), {}, 0
    for i = 1, math.min(#ids, MANY_IDS) do
        local ends = redis.call('ZSCORE', holds.leases, field .. ' ' .. ids[i])
        if ends then living[#living + 1], longest = ids[i], math.max(longest, ends - server.now) end
    end
    if #ids > MANY_IDS then
        for i = MANY_IDS + 1, #ids do living[#living + 1] = ids[i] end
        longest = math.max(longest, redis.call('PTTL', name))
    end
    if longest > 0 then
        redis.call('SET', name, table.concat(living, ' '), 'PX', longest)
    else
        redis.call('DEL', name)
    end
end

-- After the last write hold of an owner, and what --min-hold keeps of one, it is read.
function holds.dropped(field, number)
    if number == 0 or not holds.is_write(field) or holds.count(field) > 0 then return end
    local owner = holds.owner_of(field)
    local holder, kept = string.gsub(owner, '#kept$', '')
    local other = rw.write_field(kept > 0 and holder or holds.kept_by(owner))
    if holds.count(other) == 0 then redis.call('HSET', key.lock, 'mode', 'read') end
end

-- How many read holds a field of the lock's hash says that an owner of Redisson's has; 0: it is no such field.
function rw.holds_of_stranger(field, number)
    local reads = tonumber(number) and not holds.is_write(field) and not redis.call('HGET', key.info, field)
    return reads and tonumber(number) or 0
end

-- For how long the longest read hold stands, of ours and Redisson's, ms; nil: that is not known, or there are too many of
-- theirs to ask for each, or one has no end.
local function longest_read(longest)
    local entries, asked = redis.call('HGETALL', key.lock), 0
    if not longest and redis.call('HLEN', key.info) > 0 then return nil end
    for at = 1, #entries, 2 do
        local number = rw.holds_of_stranger(entries[at], entries[at + 1])
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
    local left = holds.longest() -- first: after it info has those of ours alone that are in the lock
    local fields, mode = redis.call('HLEN', key.lock), redis.call('HGET', key.lock, 'mode')
    local ours = fields > 1 and redis.call('HLEN', key.info) or 0
    if (mode == 'read' or ours == 0) and fields > 1 + ours then -- Redisson's owners stand nowhere else
        local longest = mode == 'read' and fields <= MANY and longest_read(left)
        if longest then redis.call('PEXPIRE', key.lock, longest) end
        return mode, redis.call('PTTL', key.lock)
    end
    left = fields > 1 and left or nil
    holds.settle(left)
    if left then return mode, left end
    redis.call('DEL', key.lock)
end
