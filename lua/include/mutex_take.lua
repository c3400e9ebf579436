-- mutex_take.lua: how `run` and `fair` take the hash that they share.

-- Out of the line. The first in it listens on everybody's channel from here on.
function mutex.leave_granted()
    waiters.leave_granted(waiters)
    waiters.tell(waiters, 'first ' .. call.lease)
end

-- Not all are free to take what is held: this very attempt was granted, and its answer lost; or no run is wanted; or
-- the holder is around us. The answer; nil: they wait.
function mutex.meet()
    local answer = holds.again(call.owner, call.proof_owner) or once.done()
    if answer then return answer end
    local around = holds.around()
    return around and holds.reenter(around, function() waiters.leave_granted(waiters) end)
end
