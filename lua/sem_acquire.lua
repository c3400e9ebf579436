-- include: base simple clock token rights rights_sem sem sem_grant
-- Takes leased permits, all that are asked for or none. KEYS and ARGV: base.lua, sem.lua.
-- Reply: mutex_acquire.lua ({BUSY, ms until the next lease ends...}), and
--       {REFUSED, 0, 0, why}: users disagree about how many there are; or there is none yet
local refusal = rights.refusal('sem')
if refusal then return refusal end
local count = sem.available()
-- Nearly always: it is one permit, there is one, nobody has died, and nobody waits.
if count and count > 0 and call.permits == 1 and not hold and call.is_simple(ARGV[10])
    and redis.call('ZCOUNT', sem.permits, '-inf', server.now_text) == 0
    and tonumber(plain or 0) + redis.call('ZCARD', sem.permits) + count == tonumber(ARGV[9]) then
    return sem.grant(call.lease_text, function()
        return redis.call('ZADD', sem.permits, server.after(call.lease), sem.permit(call.id))
    end)
end

-- include: server try front waiters waiting acquire sem_leases sem_dead sem_waiters sem_take
local available = count
if available == false then return {WRONG_KIND, 0, 0} end
if try.is_over() then return {OVER, 0, 0} end
local ours, ends = sem.ours()
if #ours == call.permits then -- this very attempt was granted, and its answer lost
    sem.renew(ours, ends)
    return {GRANTED, server.reply_token(sem.token()), call.lease}
end
for _ = 0, math.ceil(call.permits / sem.PART) do -- of many that died at once a part: waiters come again soon
    local dead, left = sem.collect()
    if dead > 0 then call.has_cleaned, available = true, left end
    if dead < sem.PART or not available or available >= call.permits then break end
end
available, refusal = sem.set_up(available)
if not available then return refusal end
if not sem.fits(available) then return sem.busy(sem.next_end()) end
return sem.grant(call.lease_text, function()
    return sem.put(sem.ids(call.id, call.permits), server.after(call.lease))
end, sem.leave_granted)
