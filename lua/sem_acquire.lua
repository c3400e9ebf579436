-- include: base clock channel rights token kind simple sem sem_grant
-- Takes leased permits, all that are asked for or none. KEYS and ARGV: base.lua, sem.lua.
-- Reply: mutex_acquire.lua ({BUSY, ms until the next lease ends...}), and
--       {REFUSED, 0, 0, why}: users disagree about how many there are; or there is none yet
local count = sem.available()
local expired = count and sem.some_dead() or nil
local function take() sem.put(sem.ids(call.id, call.permits), server.now + call.lease, 'GT') end
-- Nearly always: there are as many as are wanted, nobody has died, and nobody waits.
if not sem.token() and count and count >= call.permits and not expired[1] and is_simple(ARGV[9])
    and sem.in_use() + count == tonumber(ARGV[8]) then
    return sem.grant(call.lease_text, take)
end

-- include: server request try waiters waiting acquire sem_holds sem_waiters sem_take
local available = count
if available == false then return {WRONG_KIND, 0, 0} end
if try.is_over() then return {OVER, 0, 0} end
local ours = sem.ours()
if #ours == call.permits then -- this very attempt was granted, and its answer lost
    sem.renew(ours)
    return {GRANTED, server.reply_token(sem.token()), call.lease}
end
local dead = sem.collect(expired)
while dead == sem.PART and (sem.available() or math.huge) < call.permits do dead = sem.collect() end
if dead > 0 then available = sem.available() end
local refusal
available, refusal = sem.set_up(available)
if not available then return refusal end
if not sem.fits(available) then return sem.busy(sem.next_end()) end
return sem.grant(call.lease_text, take, sem.leave_granted)
