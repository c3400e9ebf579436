-- include: base clock channel rights kind server latch
-- Sets a latch that is not there. KEYS and ARGV: base.lua, latch.lua; ARGV 4: the count.
--
-- Reply {RELEASED, count, 0} | {LOST, count, 0}: there is one, left as it is | {WRONG_KIND, 0, 0}
local count = latch.count()
if count == false then return {WRONG_KIND, 0, 0} end
if count then return {latch.done_before() and RELEASED or LOST, count, 0} end
local refusal = server.denies('PEXPIRE', '') or server.denies('SET', '')
if refusal then return refusal end
latch.remember()
redis.call('SET', key.lock, call.permits)
server.tell_all('1')
return {RELEASED, call.permits, 0}
