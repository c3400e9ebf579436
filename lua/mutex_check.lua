-- include: base clock channel kind server mutex check
-- Looks whether a hold of `run` or `fair` is still there. KEYS and ARGV: base.lua, check.lua.
--
-- Reply {KEPT, ms left, 0} | {LOST, 0, 0}: it is gone, or someone else's
local ours = mutex.holds(call.owner)
local proven
if check.by_id then
    proven = redis.call('HGET', key.hold, call.id)
else
    proven = check.proves(call.owner)
end
if not ours or not proven then return check.lost() end
return check.kept(redis.call('PTTL', key.lock))
