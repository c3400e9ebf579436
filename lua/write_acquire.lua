--!df flags=allow-undeclared-keys
-- include: base clock rights rights_rw
-- Takes the exclusive side of a read/write lock. While it waits, new readers are held back.
-- KEYS and ARGV: base.lua, rw.lua. Reply: mutex_acquire.lua, and
--       {REFUSED, 0, 0, why}: an enclosing command reads, and would be waited for in vain
local rights_of = 'read, write'
-- include: rights_ask
local held_as, others_left, finish = ARGV[1] .. ':write', nil, nil
-- Nearly always it is free, nothing but it is wanted, and nobody waits.
if ARGV[9] or string.sub(ARGV[3], 33) ~= '.1'
    or redis.call('EXISTS', KEYS[1], KEYS[3], KEYS[4], KEYS[5], KEYS[8], KEYS[9], KEYS[#KEYS]) > 0 then
    -- include: call server tell token foreign try front waiters waiting acquire
    -- include: holds holds_keep holds_end holds_take rw_lease_key rw rw_leases rw_take rw_meet rw_wake
    local answer, mode, _, writer, around =
        rw.meet(false, held_as, call.proof_owner and rw.write_field(call.proof_owner))
    if answer then return answer end
    if mode then
        if around and holds.count(rw.write_field(around)) > 0 then
            if writer == call.owner then rw.pass_marker_on(writer) end
            return holds.reenter(rw.write_field(around), rw.writers)
        elseif around then
            return {REFUSED, 0, 0, 'the enclosing command holds it for reading, and would never let '
                .. 'a writer in: take it for writing first'}
        end
        local place, waiting, again_ms, ticket = waiters.place(rw.writers)
        if call.enqueue then rw.mark(place) end
        return acquire.busy(rw.holder(), redis.call('PTTL', key.lock), place, waiting, again_ms, ticket)
    end
    function finish()
        waiters.remove(rw.writers, call.owner)
        if writer == call.owner then rw.pass_marker_on(writer) end
        waiters.tell(waiters, 'first ' .. call.lease) -- they listen on everybody's channel now
        waiters.tell(rw.writers, 'first ' .. call.lease)
    end
end

-- include: next_token grant
redis.call('HSET', KEYS[1], 'mode', 'write', held_as, '1')
redis.call('PEXPIRE', KEYS[1], lasts)
if finish then finish() end
return {GRANTED, token, tonumber(ARGV[2])}
