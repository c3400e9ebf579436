-- include: base clock channel rights kind server try latch
-- Sets a latch that is not there. KEYS and ARGV: base.lua, latch.lua; ARGV 4: the count, 0 to say that the answer
-- has come, and nothing of this attempt may arrive any more.
--
-- Reply {RELEASED, count, 0} | {LOST, count, 0}: there is one, left as it is | {WRONG_KIND, 0, 0}
local refusal = rights.refusal('latch set')
if refusal then return refusal end
local count = latch.count()
if count == false then return {WRONG_KIND, 0, 0} end
if call.permits == 0 then
    redis.call('PEXPIRE', call.tombstone, 0)
    return {RELEASED, count or 0, 0}
end
if try.is_over() then -- it was set; something is written, so that the replicas have all that was written before
    redis.call('PEXPIRE', call.tombstone, try.REMEMBER)
    return {RELEASED, count or 0, 0}
end
if count then return {LOST, count, 0} end
redis.call('HSET', call.tombstone, 'over', call.try) -- whatever of it comes late sets nothing, also when it has opened
redis.call('PEXPIRE', call.tombstone, try.REMEMBER)
latch.remember() -- by this a number is known to be a latch
redis.call('SET', key.lock, call.permits)
server.tell_all('1')
return {RELEASED, call.permits, 0}
