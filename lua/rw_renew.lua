--!df flags=allow-undeclared-keys
-- include: base clock call server holds holds_keep holds_end rw_lease_key rw rw_leases
-- Renews the lease of one hold of `read` or `write`, and of no other reader's.
-- KEYS and ARGV: base.lua, rw.lua.
--
-- Reply {KEPT, lease ms, 0} | {LOST, 0, 0}: it is gone, or someone else's
local field, ends = holds.find(call.owner, rw.write_field(call.owner))
if holds.lives(field, ends) then
    holds.renew(field, ends)
    return {KEPT, call.lease, 0}
end
pcall(function() -- a right that was taken away must not hide that it is lost
    holds.drop(field or call.owner, call.id)
    if field then rw.settle() end
end)
return {LOST, 0, 0}
