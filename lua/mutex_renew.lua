-- include: base
-- Renews the lease of one hold of `run` or `fair`, and of nobody else's. KEYS and ARGV: base.lua.
--
-- Reply {KEPT, lease ms, 0} | {LOST, 0, 0}: it is gone, or someone else's
local owner, id = call.owner, call.id
local ours = redis.call('TYPE', key.lock).ok == 'hash' and redis.call('HEXISTS', key.lock, owner) == 1
if not ours or redis.call('HEXISTS', key.hold, id) == 0 then
    if not ours then -- what was said of us beside the lock is said of nobody now
        redis.call('HDEL', key.info, owner)
        redis.call('HDEL', key.hold, owner, id)
    end
    return {code.LOST, 0, 0}
end
-- Never shortened: an enclosing hold of the same owner may have the longer lease.
server.expire_after(call.lease, key.lock, key.info, key.hold)
redis.call('HSET', key.hold, id, call.lease)
return {code.KEPT, call.lease, 0}
