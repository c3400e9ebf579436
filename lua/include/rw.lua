-- rw.lua: the one hash of `read` and `write`, Redisson's: {mode: read|write, FIELD: holds}, FIELD
-- being the owner for reads and OWNER:write for writes. Every read hold has a lease of its own, the
-- string {NAME}:OWNER:rwlock_timeout:I; the hash lives as long as the longest of all.
--
-- KEYS  7 marker: string, the writer that waits, for whom new readers are held back
--       8 waiters and 9 heartbeats of those writers, as in waiters.lua
--       10 leases: zset {FIELD:I: epoch ms at which the lease of rlock's I-th hold ends}
--       11 told: string, up to which ticket readers in line were told that they may come in
-- hold: {owner: token, FIELD:I: attempt id, attempt id: FIELD:I}
-- info has an entry for each owner of rlock's: Redisson's are in the hash alone.
local rw = {
    marker = KEYS[7], writers = {waiters = KEYS[8], heartbeats = KEYS[9]}, leases = KEYS[10], told = KEYS[11],
}

function rw.write_field(owner) return owner .. ':write' end

function rw.is_write(field) return string.sub(field, -6) == ':write' end

function rw.lease_key(owner, i)
    local before_owner = string.find(key.lock, '{', 1, true) and key.lock or '{' .. key.lock .. '}'
    return before_owner .. ':' .. owner .. ':rwlock_timeout:' .. i
end

-- False: its lease is over, and others may count it as dead already.
function rw.alive(field, i)
    if not rw.is_write(field) then return redis.call('PTTL', rw.lease_key(field, i)) ~= -2 end
    return tonumber(redis.call('ZSCORE', rw.leases, field .. ':' .. i) or 0) > server.now
end

function rw.expire(ms)
    for _, each in ipairs({key.lock, key.info, key.hold, rw.leases}) do redis.call('PEXPIRE', each, ms) end
end

-- One hold more in the hash. Returns its place among the leases.
function rw.count_one(field, ms)
    local i = redis.call('HINCRBY', key.lock, field, '1')
    if not rw.is_write(field) then redis.call('SET', rw.lease_key(field, i), '1', 'PX', ms) end
    local place = field .. ':' .. i
    redis.call('ZADD', rw.leases, server.after(ms), place)
    return place
end

function rw.clear(...)
    redis.call('DEL', key.lock, key.info, key.hold, rw.leases, ...)
end
