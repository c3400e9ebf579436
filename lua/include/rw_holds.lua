-- rw_holds.lua: the holds in the hash of `read` and `write`: found, renewed, taken out.
local ROUNDING = 5 -- ms
local AT_ONCE = 1000 -- holds of one field

function rw.owner_of(field) return (string.gsub(field, ':write$', '')) end

-- Under whose name stands what --min-hold keeps; and the other way round.
function rw.kept(owner)
    local holder, kept = string.gsub(owner, '#kept$', '')
    return kept > 0 and holder or owner .. '#kept'
end

-- 0 as well where the key has become something else.
function rw.count(field)
    local holds = redis.pcall('HGET', key.lock, field)
    if type(holds) == 'table' then holds = server.is_wrong_kind(holds) end
    return tonumber(holds or 0) or 0
end

-- The call's hold, of one of these owners: field, number, holds of the field; nil: it is not there.
function rw.find(...)
    local place = redis.call('HGET', key.hold, call.id)
    local field, i = string.match(place or '', '^(.*):(%d+)$')
    for _, owner in ipairs({...}) do
        if field and rw.owner_of(field) == owner then
            local holds = rw.count(field)
            return holds >= tonumber(i) and field or nil, tonumber(i), holds
        end
    end
end

-- The lock was deleted by hand, or by forceUnlock: its owner is not in the hash any more, and must not be
-- counted as one of rlock's there. No right to say so must not hide that it is lost.
function rw.forget(owner)
    if rw.count(owner) + rw.count(rw.write_field(owner)) > 0 then return end
    redis.pcall('HDEL', key.info, owner)
    redis.pcall('HDEL', key.hold, owner, call.id)
    redis.pcall('ZREM', rw.leases, owner .. ':1', rw.write_field(owner) .. ':1')
end

-- A whole lease for one hold from now on. An expiry is the first write: it is allowed when memory
-- is out, and after it the others are.
function rw.renew(field, i)
    rw.expire(math.max(redis.call('PTTL', key.lock), call.lease))
    if not rw.is_write(field) then
        local lease = rw.lease_key(field, i)
        redis.call('PEXPIRE', lease, math.max(redis.call('PTTL', lease), call.lease))
    end
    redis.call('ZADD', rw.leases, 'GT', server.after(call.lease), field .. ':' .. i)
end

-- The last of a field's holds takes the number of the one that goes.
local function move_last(field, i, last)
    local from, to = field .. ':' .. last, field .. ':' .. i
    local id = redis.call('HGET', key.hold, from)
    if id then redis.call('HSET', key.hold, to, id, id, to) else redis.call('HDEL', key.hold, to) end
    redis.call('ZADD', rw.leases, redis.call('ZSCORE', rw.leases, from) or 0, to)
    if not rw.is_write(field) and rw.alive(field, last) then
        redis.call('RENAME', rw.lease_key(field, last), rw.lease_key(field, i))
    end
end

-- A field's last hold has gone, and what stands about it in hold. An owner without a hold proves nothing any
-- more, and nobody asks who it was.
local function end_field(field, ...)
    local owner, about = rw.owner_of(field), {...}
    redis.call('HDEL', key.lock, field)
    if rw.count(owner == field and rw.write_field(owner) or owner) == 0 then
        about[#about + 1] = owner
        redis.call('HDEL', key.info, owner)
    end
    redis.call('HDEL', key.hold, unpack(about))
    if rw.is_write(field) and rw.count(rw.write_field(rw.kept(owner))) == 0 then
        redis.call('HSET', key.lock, 'mode', 'read')
    end
end

-- Takes out one of so many holds.
function rw.drop(field, i, holds)
    local last = field .. ':' .. holds
    local id = redis.call('HGET', key.hold, field .. ':' .. i) or last
    if not rw.is_write(field) then redis.call('DEL', rw.lease_key(field, i)) end
    if i < holds then move_last(field, i, holds) end
    redis.call('ZREM', rw.leases, last)
    if holds == 1 then return end_field(field, id, last) end
    redis.call('HDEL', key.hold, id, last)
    redis.call('HINCRBY', key.lock, field, '-1')
end

-- Takes out all of a field's holds at once. Returns how many there were. Of more than Lua can pass the
-- leases, of which there were none without the hash, end by themselves.
function rw.drop_all(field)
    local holds, places, leases = rw.count(field), {}, {}
    for i = 1, math.min(holds, AT_ONCE) do
        places[i], leases[i] = field .. ':' .. i, rw.lease_key(field, i)
    end
    if holds == 0 then return 0 end
    local about = redis.call('HMGET', key.hold, unpack(places))
    for i, place in ipairs(places) do about[i] = about[i] or place end
    if not rw.is_write(field) then redis.call('DEL', unpack(leases)) end
    redis.call('ZREM', rw.leases, unpack(places))
    redis.call('HDEL', key.hold, unpack(places))
    end_field(field, unpack(about))
    return holds
end

-- Whether Redisson's are in a hash of so many fields, who are nowhere else: how long they last is not known.
function rw.has_strangers(mode, fields, ours)
    return (mode == 'read' or ours == 0) and fields > 1 + ours
end

-- Takes out one of the dead's holds. Returns whether there was one.
function rw.bury()
    local place = redis.call('ZRANGE', rw.leases, '-inf', server.now_text, 'BYSCORE', 'LIMIT', '0', '1')[1]
    if not place then return false end
    local field, i = string.match(place, '^(.*):(%d+)$')
    local holds = rw.count(field)
    if holds >= tonumber(i) then
        rw.drop(field, tonumber(i), holds)
    else
        redis.call('ZREM', rw.leases, place)
        rw.forget(rw.owner_of(field))
    end
    return true
end

-- After holds have ended: the longest lease of those that remain is the hash's. Returns the mode; nil:
-- nobody is left, and for how long it stands.
function rw.settle()
    local fields, mode = redis.call('HLEN', key.lock), redis.call('HGET', key.lock, 'mode')
    if fields > 1 and rw.has_strangers(mode, fields, redis.call('HLEN', key.info)) then
        return mode, redis.call('PTTL', key.lock)
    end
    local last = fields > 1 and redis.call('ZRANGE', rw.leases, '-1', '-1', 'WITHSCORES')[2] or 0
    local left = tonumber(last) - server.now
    if left <= 0 then return rw.clear() end
    if math.abs(redis.call('PTTL', key.lock) - left) > ROUNDING then rw.expire(left) end
    return mode, left
end
