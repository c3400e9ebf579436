-- include: base clock call server token rights rights_plain tell try front waiters waiting acquire sem sem_waiters sem_take
-- Takes permits without a lease, as Redisson's RSemaphore: those of a killed holder never come
-- back. KEYS and ARGV: base.lua, sem.lua. Reply: sem_acquire.lua
local lasts = '31536000000' -- for which their owner is known: a year

call.plain = true
local rights_of = 'sem --plain'
-- include: rights_ask
local available = sem.available()
if available == false then return {WRONG_KIND, 0, 0} end
if try.is_over() then return {OVER, 0, 0} end
local before = sem.token()
if before then -- granted before, the answer lost
    return {GRANTED, server.reply_token(before), tonumber(lasts)}
end
local refused
available, refused = sem.set_up(available)
if not available then return refused end
if not sem.fits(available) then return sem.busy(-1) end
local is_alone, finish = false, sem.leave_granted
local function put() return sem.count_plain(call.permits) end

-- include: sem_permit next_token sem_grant
