-- include: base clock call server rights rights_latch foreign acquire latch
-- Looks whether a latch is open. KEYS and ARGV: base.lua, latch.lua. All waiters listen on
-- everybody's channel, and all of them wake.
--
-- Reply {GRANTED, 0, 0}: it is open; none counts as open, but for the variant 'must-exist' of a waiter
--                        that has never seen one
--       {BUSY, -1, place: 1, 0 for one that is not there yet, ..., count} | {WRONG_KIND, 0, 0}
local rights_of = 'latch wait'
-- include: rights_ask
local count = latch.count()
if count == false then return {WRONG_KIND, 0, 0} end
if not count and call.variant == 'must-exist' and (call.last_place or 0) < 1 then
    return acquire.busy('', -1, 0, 0)
end
if not count or count <= 0 then
    redis.call('PEXPIRE', call.tombstone, '0') -- changes nothing, but a replica, which may be behind, refuses it
    return {GRANTED, 0, 0}
end
return acquire.busy('', -1, 1, count)
