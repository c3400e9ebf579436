-- include: base clock call server token holds check
-- Looks whether a hold of `run` or `fair` is still there. KEYS and ARGV: base.lua, check.lua.
--
-- Reply {KEPT, ms left, 0} | {LOST, 0, 0}: it is gone, or someone else's
if not check.by_id then return check.kept(check.proves(call.owner) and holds.left_of(call.owner) or 0) end
local field, ends = holds.find(call.owner)
return check.kept(holds.lives(field, ends) and ends - server.now or 0)
