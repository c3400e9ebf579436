-- include: base clock channel kind server rw rw_holds
-- Renews the lease of one hold of `read` or `write`, and of no other reader's.
-- KEYS and ARGV: base.lua, rw.lua.
--
-- Reply {KEPT, lease ms, 0} | {LOST, 0, 0}: it is gone, or someone else's
local field, i, holds = rw.find(call.owner)
if not field then
    rw.forget(call.owner)
    return {LOST, 0, 0}
end
if not rw.alive(field, i) then
    rw.drop(field, i, holds)
    rw.settle()
    return {LOST, 0, 0}
end
rw.renew(field, i)
return {KEPT, call.lease, 0}
