-- include: base clock channel kind server mutex
-- Renews the lease of one hold of `run` or `fair`, and of nobody else's. KEYS and ARGV: base.lua.
--
-- Reply {KEPT, lease ms, 0} | {LOST, 0, 0}: it is gone, or someone else's
local owner, id = call.owner, call.id
local ours = mutex.holds(owner)
if not ours or not redis.call('HGET', key.hold, id) then
    if not ours then mutex.forget(owner, id) end
    return {LOST, 0, 0}
end
-- Never shortened: an enclosing hold of the same owner may have the longer lease.
server.prolong(call.lease)
redis.call('HSET', key.hold, id, call.lease)
return {KEPT, call.lease, 0}
