-- include: base clock call server rights rights_resize tell try try_once front waiters sem sem_hex sem_dead sem_waiters
-- Changes how many permits there are in all; fewer than are in use leaves less than none available.
-- KEYS and ARGV: base.lua, sem.lua; ARGV 4: the new number.
--
-- Reply {RELEASED, permits, of them in use} | {WRONG_KIND, 0, 0}
local rights_of = 'sem --resize'
-- include: rights_ask
if sem.available() == false then return {WRONG_KIND, 0, 0} end

return try.once(function()
    sem.collect()
    local in_use = sem.in_use()
    sem.set(call.permits - in_use)
    sem.wake(waiters.A_FEW)
    return {RELEASED, call.permits, in_use}
end, function() return {RELEASED, call.permits, sem.in_use()} end)
