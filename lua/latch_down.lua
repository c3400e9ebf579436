-- include: base clock channel rights kind server latch
-- Counts down, and opens the latch at zero. KEYS and ARGV: base.lua, latch.lua; ARGV 4: by how
-- much, 0 only to look.
--
-- Reply {RELEASED, count left, 0} | {LOST, 0, 0}: there is none | {WRONG_KIND, 0, 0}
local refusal = rights.refusal('latch down')
if refusal then return refusal end
local count = latch.count()
if count == false then return {WRONG_KIND, 0, 0} end
if not count then
    if call.permits > 0 then latch.leave_word() end
    return {LOST, 0, 0}
end
if call.permits == 0 or latch.done_before() then return {RELEASED, count, 0} end
local left = count - call.permits
if left <= 0 then
    redis.call('DEL', key.lock, key.hold)
    server.tell_all('0')
    return {RELEASED, 0, 0}
end
redis.call('PEXPIRE', key.hold, latch.REMEMBER) -- the first write: allowed when memory is out
latch.remember()
latch.forget_some()
redis.call('DECRBY', key.lock, call.permits)
return {RELEASED, left, 0}
