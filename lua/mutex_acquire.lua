-- include: base clock rights rights_mutex
-- Takes the lock of `run`, re-enters it, or describes its holder. KEYS and ARGV: base.lua, mutex.lua.
-- It does not queue: if the lock is free, it is taken, even if others stand in the fair queue.
--
-- Reply {GRANTED, token, lease ms} | {REENTERED, token, lease ms} | {WRONG_KIND, 0, 0} | {OVER, 0, 0}
--       {APART, 1: the hold around it is here, but by another token; else 0, 0}: it was asked to re-enter alone
--       {DONE, ms since, ms it took, host, pid, user, command}: a run has succeeded, see once.lua
--       {BUSY, ms until it expires (-1: never), place in line,
--        owner, host, pid, user, command, held since ms, length of the line, 1: give.lua, 2: it only waits, else 0,
--        ms until it shall come again at most, ticket: waiters.lua,
--        with --preempt: whether the holder was asked to end, see acquire.lua}
local rights_of = 'run'
-- include: rights_ask
local held_as, others_left, finish = ARGV[1], nil, nil
-- Nearly always it is free, nothing but it is wanted, and nobody waits.
if ARGV[9] or string.sub(ARGV[3], 33) ~= '.1'
    or redis.call('EXISTS', KEYS[1], KEYS[3], KEYS[4], KEYS[5], KEYS[#KEYS]) > 0 then
    -- include: call server tell token foreign mutex try once once_done front waiters waiting acquire
    -- include: holds holds_keep holds_take mutex_take
    local answer, holder, ttl = mutex.meet()
    answer = answer or holds.apart()
    if answer then return answer end
    if holder then return acquire.busy(holder, ttl, waiters.place(waiters)) end
    finish = mutex.leave_granted
end

-- include: next_token grant
redis.call('HSET', KEYS[1], held_as, '1')
redis.call('PEXPIRE', KEYS[1], lasts)
if finish then finish() end
return {GRANTED, token, tonumber(ARGV[2])}
