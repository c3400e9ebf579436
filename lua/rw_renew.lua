-- include: base rw
-- Renews the lease of one hold of `read` or `write`, and of no other reader's.
-- KEYS and ARGV: base.lua, rw.lua.
--
-- Reply {KEPT, lease ms, 0} | {LOST, 0, 0}: it is gone, or someone else's
if not rw.mode() then return {code.LOST, 0, 0} end
local field, i, holds = rw.locate(call.owner)
if not field then return {code.LOST, 0, 0} end
if field == call.owner then
    local lease = rw.lease_key(field, i)
    if redis.call('EXISTS', lease) == 0 then -- others may count it as dead already
        rw.drop(field, i, holds)
        rw.sweep()
        return {code.LOST, 0, 0}
    end
    server.expire_after(call.lease, lease)
else
    rw.renew_write(field, call.lease)
end
rw.expire(call.lease)
return {code.KEPT, call.lease, 0}
