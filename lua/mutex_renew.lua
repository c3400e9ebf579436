-- include: base clock call server holds holds_keep
-- Renews the lease of one hold of `run` or `fair`, and of nobody else's. KEYS and ARGV: base.lua.
--
-- Reply {KEPT, lease ms, 0} | {LOST, 0, 0}: it is gone, or someone else's
local field, ends = holds.find(call.owner)
if holds.lives(field, ends) then
    holds.renew(field, ends)
    return {KEPT, call.lease, 0}
end
pcall(holds.drop, field or call.owner, call.id) -- a right that was taken away must not hide that it is lost
return {LOST, 0, 0}
