--!df flags=allow-undeclared-keys
-- include: base clock rights rights_rw
-- Takes the shared side of a read/write lock. New readers wait while a writer holds it, or waits
-- for it; one whose enclosing command reads or writes comes in. KEYS and ARGV: base.lua, rw.lua.
-- Reply: mutex_acquire.lua
local rights_of = 'read, write'
-- include: rights_ask
local held_as, times_held, others_left, finish, add_to_lease = ARGV[1], '1', nil, nil, nil
-- Nearly always it is free, nothing but it is wanted, and nobody waits.
if ARGV[9] or string.sub(ARGV[3], 33) ~= '.1'
    or redis.call('EXISTS', KEYS[1], KEYS[3], KEYS[4], KEYS[5], KEYS[8], KEYS[9], KEYS[#KEYS]) > 0 then
    -- include: call server tell token foreign try front waiters waiting acquire
    -- include: holds holds_keep holds_end holds_take rw_lease_key rw rw_leases rw_take rw_meet rw_wake
    local answer, mode, stands, writer, around = rw.meet(true, call.owner, call.proof_owner)
    if answer then return answer end
    if around then return holds.reenter(around, waiters) end
    if mode == 'write' or writer then
        local hint = redis.call('PTTL', mode == 'write' and key.lock or rw.marker)
        if mode ~= 'write' and hint > rw.MARKER_TTL then -- the clock was set back: its writer may be dead
            redis.call('PEXPIRE', rw.marker, rw.MARKER_TTL)
            hint = rw.MARKER_TTL
        end
        return acquire.busy(mode and rw.holder() or writer, hint, waiters.place(waiters))
    end
    others_left = mode and stands
    if mode and holds.count(held_as) > 0 then -- what was nested in an earlier one goes on
        times_held = holds.count(held_as) + 1
        function add_to_lease() holds.changed(held_as, call.id) end
    end
    local waited = redis.call('ZSCORE', key.waiters, call.owner)
    function finish()
        waiters.remove(waiters, call.owner)
        if waited then rw.tell_readers() end
    end
end

-- include: next_token grant
redis.call('HSET', KEYS[1], 'mode', 'read', held_as, times_held)
if add_to_lease then add_to_lease() else redis.call('SET', KEYS[12], string.sub(ARGV[3], 1, 32), 'PX', ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], lasts)
if finish then finish() end
return {GRANTED, token, tonumber(ARGV[2])}
