-- include: base clock call server sem_permit sem sem_leases
-- Renews the leases of one holder's permits. KEYS and ARGV: base.lua, sem.lua.
--
-- Reply {KEPT, lease ms, 0} | {LOST, 0, 0}: at least one is gone
local held, ours, ends = sem.ours()
if held < call.permits then return {LOST, 0, 0} end
sem.renew(ours, ends)
return {KEPT, call.lease, 0}
