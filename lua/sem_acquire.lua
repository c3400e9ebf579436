-- include: base line acquire sem sem_take
-- Takes leased permits, all that are asked for or none. KEYS and ARGV: base.lua, sem.lua.
-- Reply: mutex_acquire.lua ({BUSY, ms until the next lease ends...}), and
--       {REFUSED, 0, 0, why}: users disagree about how many there are; or there is none yet
local available = sem.available()
if available == false then return {code.WRONG_KIND, 0, 0} end
local ours = sem.ours()
if #ours == call.permits then -- this very attempt was granted, and its answer lost
    sem.renew(ours)
    return {code.GRANTED, sem.token(), call.lease}
end
sem.collect()
local in_use = redis.call('ZCARD', sem.permits)
local refusal
available, refusal = sem.set_up(in_use)
if not available then return refusal end
local total, expected = available + in_use, tonumber(ARGV[13])
local waits = ARGV[15] ~= '' -- since before it was resized, maybe
if expected and expected ~= total and not waits then
    return {code.REFUSED, 0, 0, 'it has ' .. total .. ' permits, not ' .. expected
        .. ': all users agree on --permits, and --resize changes it'}
elseif call.permits > total and not waits then
    return {code.REFUSED, 0, 0, 'it has ' .. total .. ' permits, and --take asks for '
        .. call.permits}
end
if available >= call.permits then
    return sem.grant(call.lease, function()
        for _, id in ipairs(sem.ids()) do
            redis.call('ZADD', sem.permits, server.now + call.lease, id)
        end
    end)
end
refusal = line.refusal(key.waiters, sem.rights)
if refusal then return refusal end
sem.wake(1) -- who asks for less
return acquire.busy(sem.holder(), sem.next_end(), sem.place())
