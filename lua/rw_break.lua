-- include: base clock channel rights kind server waiters rw rw_holds rw_wake broken
-- Takes `read` or `write` away from holders, all of their holds, and wakes who can come in now. Sent
-- again it finds them gone. KEYS and ARGV: base.lua, rw.lua, broken.lua.
--
-- Reply {RELEASED, holders, 0} | {LOST, 0, 0}: who was shown does not hold it | {WRONG_KIND, 0, 0}
local refusal = rights.refusal('break')
if refusal then return refusal end
local kind = redis.call('TYPE', key.lock).ok
if kind == 'none' then return {LOST, 0, 0} end
local mode = kind == 'hash' and redis.call('HGET', key.lock, 'mode')
if mode ~= 'read' and mode ~= 'write' then return {WRONG_KIND, 0, 0} end

local broken, wrote = 0, false
for owner in pairs(shown) do
    local reads, writes = rw.drop_all(owner), rw.drop_all(rw.write_field(owner))
    if reads + writes > 0 then
        broken = broken + 1
        tell_victim(owner)
    end
    wrote = wrote or writes > 0
end
if broken == 0 then return {LOST, 0, 0} end
mode = rw.settle()
if wrote or not mode then
    server.tell_all(wrote and '1' or '0')
    rw.wake()
end
return {RELEASED, broken, 0}
