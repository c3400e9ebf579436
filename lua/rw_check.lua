-- include: base clock call server token holds rw_lease_key rw check
-- Looks whether a hold of `read` or `write` is still there. KEYS and ARGV: base.lua, rw.lua, check.lua.
-- Reply: mutex_check.lua
if not check.by_id then return check.kept(check.proves(call.owner) and holds.left_of(call.owner) or 0) end
local field, ends = holds.find(call.owner, rw.write_field(call.owner))
return check.kept(holds.lives(field, ends) and ends - server.now or 0)
