-- include: base clock token rights rights_sem server try front waiters waiting acquire
-- include: sem sem_grant sem_waiters sem_take
-- Takes permits without a lease, as Redisson's RSemaphore: those of a killed holder never come
-- back. KEYS and ARGV: base.lua, sem.lua. Reply: sem_acquire.lua
local KEEP = '31536000000' -- ms for which their owner is known: a year

call.plain = true
local refusal = rights.refusal('sem --plain')
if refusal then return refusal end
local available = sem.available()
if available == false then return {WRONG_KIND, 0, 0} end
if try.is_over() then return {OVER, 0, 0} end
local token = sem.token()
if token then -- granted before, the answer lost
    return {GRANTED, server.reply_token(token), tonumber(KEEP)}
end
available, refusal = sem.set_up(available)
if not available then return refusal end
if not sem.fits(available) then return sem.busy(-1) end
return sem.grant(KEEP, function() return sem.count_plain(call.permits) end, sem.leave_granted)
