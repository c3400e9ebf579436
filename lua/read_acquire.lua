--!df flags=allow-undeclared-keys
-- include: base simple clock token rights rights_rw rw grant rw_grant
-- Takes the shared side of a read/write lock. New readers wait while a writer holds it, or waits
-- for it; one whose enclosing command reads or writes comes in. KEYS and ARGV: base.lua, rw.lua.
-- Reply: mutex_acquire.lua
local refusal = rights.refusal('read, write')
if refusal then return refusal end
if call.is_simple(ARGV[9], key.lock, key.info, KEYS[4], rw.marker, rw.writers.waiters) then
    return grant(call.owner, nil, rw.count_read)
end

-- include: server foreign try front waiters waiting acquire
-- include: holds holds_keep holds_end holds_take rw_holds rw_leases rw_take rw_meet rw_wake
local ttl, writer = redis.call('PTTL', key.lock), redis.call('GET', rw.marker)
local mode = rw.mode(ttl)
if mode == false then return {WRONG_KIND, 0, 0} end
if try.is_over() then return {OVER, 0, 0} end
call.has_cleaned = call.came_back and mode == 'read' and not writer -- it comes in, and tells the next: enough
local before, left, more
before, mode, left, more = rw.meet(mode, ttl, call.owner, call.proof_owner)
if before then return before end
local around = mode and holds.around()
if around then return holds.reenter(around, function() waiters.leave_granted(waiters) end) end
local apart = holds.apart()
if apart then return apart end
if mode ~= 'write' and not writer then
    local waited = redis.call('ZSCORE', key.waiters, call.owner)
    local answer = grant(call.owner, mode and left, rw.count_read, function() waiters.leave_granted(waiters) end)
    if waited then rw.tell_readers() end
    return answer
end
local hint = redis.call('PTTL', mode == 'write' and key.lock or rw.marker)
if mode ~= 'write' and hint > rw.MARKER_TTL then -- the clock was set back: its writer may be dead
    redis.call('PEXPIRE', rw.marker, rw.MARKER_TTL)
    hint = rw.MARKER_TTL
end
local place, waiting, again_ms, ticket = waiters.place(waiters)
return acquire.busy(mode and rw.holder() or writer, hint, place, waiting, more and waiters.SOON or again_ms, ticket)
