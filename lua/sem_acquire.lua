-- include: base try line line_wait acquire sem sem_take
-- Takes leased permits, all that are asked for or none. KEYS and ARGV: base.lua, sem.lua.
-- Reply: mutex_acquire.lua ({BUSY, ms until the next lease ends...}), and
--       {REFUSED, 0, 0, why}: users disagree about how many there are; or there is none yet
local available = sem.available()
if available == false then return {code.WRONG_KIND, 0, 0} end
if try.is_over() then return {code.OVER, 0, 0} end
local ours = sem.ours()
if #ours == call.permits then -- this very attempt was granted, and its answer lost
    sem.renew(ours)
    return {code.GRANTED, server.reply_token(sem.token()), call.lease}
end
sem.collect()
local refusal
available, refusal = sem.set_up()
if not available then return refusal end
if available >= call.permits then
    return sem.grant(call.lease, function()
        for _, id in ipairs(sem.ids()) do
            redis.call('ZADD', sem.permits, server.now + call.lease, id)
        end
        -- Redisson's expire() of a semaphore is one of its permits, too.
        local left = redis.call('PTTL', key.lock)
        if left > 0 then redis.call('PEXPIRE', sem.permits, left) end
    end)
end
refusal = line.refusal(line, sem.rights)
if refusal then return refusal end
sem.wake(1) -- who asks for less
return acquire.busy(sem.holder(), sem.next_end(), sem.place())
