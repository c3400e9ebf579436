--!df flags=allow-undeclared-keys
-- include: base clock call server rights rights_break tell front waiters holds holds_keep holds_end
-- include: rw_lease_key rw rw_leases rw_wake lost broken
-- Takes `read` or `write` away from a holder, all of its holds, and wakes the next waiters. Sent again it finds them
-- gone. KEYS and ARGV: base.lua, rw.lua, broken.lua.
--
-- Reply {RELEASED, 0, 0} | {LOST, 0, 0}: the holder that was shown does not hold it | {WRONG_KIND, 0, 0}
local rights_of = 'break'
-- include: rights_ask
local kind = redis.call('TYPE', key.lock).ok
if kind == 'none' then return lost(key.info) end
local mode = kind == 'hash' and redis.call('HGET', key.lock, 'mode')
if mode ~= 'read' and mode ~= 'write' then return {WRONG_KIND, 0, 0} end

-- Few hold a lock that is held for writing; the ids of read holds stand in the key of their leases.
local function end_writes(field)
    for _, member in ipairs(redis.call('ZRANGE', holds.leases, -16, -1)) do
        if holds.field_of(member) == field then redis.call('ZREM', holds.leases, member) end
    end
end

local function end_reads(number)
    for _, id in ipairs(ids_of_reads(victim)) do redis.call('ZREM', holds.leases, victim .. ' ' .. id) end
    local lease_keys = {lease_key(victim)}
    for i = 2, math.min(rw.holds_of_stranger(victim, number), 1000) do lease_keys[i] = lease_key(victim, i) end
    redis.call('DEL', unpack(lease_keys))
end

local writing = rw.write_field(victim)
local reads, writes = unpack(redis.call('HMGET', key.lock, victim, writing))
if not reads and not writes then return lost(key.info) end
if reads then end_reads(reads) end
if writes then end_writes(writing) end
redis.call('HDEL', key.lock, victim, writing)
redis.call('HDEL', key.info, victim)
tell_victim()
if writes then holds.dropped(writing, 1) end
mode = rw.settle()
if writes or not mode then
    server.tell_all(writes and '1' or '0')
    rw.wake()
end
return {RELEASED, 0, 0}
