-- rw.lua: the one hash of `read` and `write`, Redisson's: {mode: read|write, FIELD: holds}, FIELD
-- being the owner for reads and OWNER:write for writes. Every read hold has a lease of its own, the
-- string {NAME}:OWNER:rwlock_timeout:I; the hash lives as long as the longest of all.
--
-- KEYS  7 marker: string, the writer that waits, for whom new readers are held back
--       8 waiters and 9 beats of the line of those writers
--       10 leases: zset {FIELD:I: epoch ms at which the lease of rlock's I-th hold ends}
--       11 told: string, up to which ticket readers in line were told that they may come in
-- hold: {owner: token, FIELD:I: attempt id, attempt id: FIELD:I}
-- info has an entry for each owner of rlock's: Redisson's are in the hash alone.
local rw = {
    marker = KEYS[7], writers = {waiters = KEYS[8], beats = KEYS[9]}, leases = KEYS[10], told = KEYS[11],
}

local ROUNDING = 5 -- ms

function rw.write_field(owner) return owner .. ':write' end

function rw.owner_of(field) return (string.gsub(field, ':write$', '')) end

-- Under whose name stands what --min-hold keeps; and the other way round.
function rw.kept(owner)
    local holder, kept = string.gsub(owner, '#kept$', '')
    return kept > 0 and holder or owner .. '#kept'
end

function rw.is_write(field) return string.sub(field, -6) == ':write' end

function rw.lease_key(owner, i)
    local before_owner = string.find(key.lock, '{', 1, true) and key.lock or '{' .. key.lock .. '}'
    return before_owner .. ':' .. owner .. ':rwlock_timeout:' .. i
end

-- 0 as well where the key has become something else.
function rw.count(field)
    local holds = redis.pcall('HGET', key.lock, field)
    if type(holds) == 'table' then holds = server.is_wrong_kind(holds) end
    return tonumber(holds or 0) or 0
end

function rw.expire(ms)
    server.expire(ms)
    redis.call('PEXPIRE', rw.leases, ms)
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

-- False: its lease is over, and others may count it as dead already.
function rw.alive(field, i)
    if not rw.is_write(field) then return redis.call('PTTL', rw.lease_key(field, i)) ~= -2 end
    return tonumber(redis.call('ZSCORE', rw.leases, field .. ':' .. i) or 0) > server.now
end

-- One hold more in the hash. Returns its place among the leases.
function rw.count_one(field, ms)
    local i = redis.call('HINCRBY', key.lock, field, 1)
    if not rw.is_write(field) then redis.call('SET', rw.lease_key(field, i), 1, 'PX', ms) end
    redis.call('ZADD', rw.leases, server.now + ms, field .. ':' .. i)
    return field .. ':' .. i
end

-- A whole lease for one hold from now on. An expiry is the first write: it is allowed when memory
-- is out, and after it the others are.
function rw.renew(field, i)
    rw.expire(math.max(redis.call('PTTL', key.lock), call.lease))
    if not rw.is_write(field) then
        local lease = rw.lease_key(field, i)
        redis.call('PEXPIRE', lease, math.max(redis.call('PTTL', lease), call.lease))
    end
    redis.call('ZADD', rw.leases, 'GT', server.now + call.lease, field .. ':' .. i)
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

-- Takes out one of so many holds. An owner without a hold proves nothing any more, and nobody asks who it was.
function rw.drop(field, i, holds)
    local owner, last = rw.owner_of(field), field .. ':' .. holds
    local id = redis.call('HGET', key.hold, field .. ':' .. i) or last
    if not rw.is_write(field) then redis.call('DEL', rw.lease_key(field, i)) end
    if i < holds then move_last(field, i, holds) end
    redis.call('ZREM', rw.leases, last)
    if holds > 1 then
        redis.call('HDEL', key.hold, id, last)
        return redis.call('HINCRBY', key.lock, field, -1)
    end
    redis.call('HDEL', key.lock, field)
    local reads_or_writes = rw.count(owner == field and rw.write_field(owner) or owner) > 0
    redis.call('HDEL', key.hold, id, last, not reads_or_writes and owner or last)
    if not reads_or_writes then redis.call('HDEL', key.info, owner) end
    if rw.is_write(field) and rw.count(rw.write_field(rw.kept(owner))) == 0 then
        redis.call('HSET', key.lock, 'mode', 'read')
    end
end

-- Whether Redisson's are in a hash of so many fields, who are nowhere else: how long they last is not known.
function rw.has_strangers(mode, fields, ours)
    return (mode == 'read' or ours == 0) and fields > 1 + ours
end

function rw.clear(...)
    redis.call('DEL', key.lock, key.info, key.hold, rw.leases, ...)
end

-- Takes out one of the dead's holds. Returns whether there was one.
function rw.bury()
    local place = redis.call('ZRANGE', rw.leases, '-inf', server.now, 'BYSCORE', 'LIMIT', 0, 1)[1]
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
-- nobody is left.
function rw.settle()
    local fields, mode = redis.call('HLEN', key.lock), redis.call('HGET', key.lock, 'mode')
    if fields > 1 and rw.has_strangers(mode, fields, redis.call('HLEN', key.info)) then return mode end
    local last = fields > 1 and redis.call('ZRANGE', rw.leases, -1, -1, 'WITHSCORES')[2] or 0
    local left = tonumber(last) - server.now
    if left <= 0 then return rw.clear() end
    if math.abs(redis.call('PTTL', key.lock) - left) > ROUNDING then rw.expire(left) end
    return mode
end
