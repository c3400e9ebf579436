-- mutex_take.lua: how `run` and `fair` take the hash that they share.

-- The caller has the lock now, and may have waited; a late request may have put it into line, too. The first in it
-- listens on everybody's channel from here on.
function mutex.leave_granted()
    waiters.remove(waiters, call.owner)
    waiters.tell(waiters, 'first ' .. call.lease)
end

-- What a request meets: the answer that it has already, for this very attempt was granted, and its answer lost, or no run
-- is wanted, or the holder is around us; the holder, nil: it is free; and the lock's PTTL.
function mutex.meet()
    local ttl = redis.call('PTTL', key.lock)
    local holder = mutex.holder(ttl)
    if holder == false then return {WRONG_KIND, 0, 0} end
    if try.is_over() then return {OVER, 0, 0} end
    local answer = holder and holds.again(call.owner, call.proof_owner) or once.done()
    local around = holder and not answer and holds.around()
    if around then answer = holds.reenter(around, waiters) end
    return answer, holder, ttl
end
