--!df flags=allow-undeclared-keys
-- include: base clock rights rights_rw
-- Puts a hold of `read` or `write` back, unless a holder that it excludes has it. A waiting writer does not keep
-- out a reader that was in before. KEYS and ARGV: base.lua, rw.lua, restore.lua; ARGV 10 '1': it is a read hold.
-- Reply: mutex_restore.lua
local rights_of = 'read, write'
-- include: rights_ask
-- include: call server token tell foreign holds holds_keep holds_end rw_lease_key rw rw_leases rw_take
-- include: try front waiters token_raise restore
local writes = ARGV[10] ~= '1'
local ttl = redis.call('PTTL', key.lock)
local mode = rw.mode(ttl)
if mode == false then return {WRONG_KIND, 0, 0} end
if try.is_over() then return {OVER, 0, 0} end
if holds.find_living(call.owner, rw.write_field(call.owner)) == false then mode, ttl = rw.settle() end
if mode then mode = rw.sweep(mode, ttl) end

-- The owner's, or what --min-hold keeps of holds inside the one that is put back.
local kept = holds.kept_by(call.owner)

-- Of a write hold that is put back the read holds inside it may be there already.
local function is_alone()
    local reads = math.min(holds.count(call.owner), 1) + math.min(holds.count(kept), 1)
    return reads > 0 and redis.call('HLEN', key.lock) == 1 + reads
end

local writes_here = holds.count(rw.write_field(call.owner)) > 0 or holds.count(rw.write_field(kept)) > 0
local is_ours = mode == 'write' and writes_here
if mode and not is_ours and not (mode == 'read' and (not writes or is_alone())) then return {LOST, 0, 0} end
if not mode or writes and mode == 'read' then redis.call('HSET', key.lock, 'mode', writes and 'write' or 'read') end
restore.leave(rw.writers)
return restore.put(writes and rw.write_field(call.owner) or call.owner, not mode)
