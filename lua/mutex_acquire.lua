-- include: base simple clock token rights rights_mutex grant
-- Takes the lock of `run`, re-enters it, or describes its holder. KEYS and ARGV: base.lua, mutex.lua.
-- It does not queue: if the lock is free, it is taken, even if others stand in the fair queue.
--
-- Reply {GRANTED, token, lease ms} | {REENTERED, token, lease ms} | {WRONG_KIND, 0, 0} | {OVER, 0, 0}
--       {APART, 0, 0}: it was asked to re-enter alone
--       {DONE, ms since, ms it took, host, pid, user, command}: a run has succeeded, see once.lua
--       {BUSY, ms until it expires (-1: never), place in line,
--        owner, host, pid, user, command, held since ms, length of the line, 1: give.lua, else 0,
--        ms until it shall come again at most, ticket: waiters.lua,
--        with --preempt: whether the holder was asked to end, see acquire.lua}
local refusal = rights.refusal('run')
if refusal then return refusal end
if call.is_simple(ARGV[9], key.lock, key.info, KEYS[4]) then return grant(call.owner) end

-- include: server foreign mutex try once once_done front waiters waiting acquire
-- include: holds holds_keep holds_take mutex_take
local ttl = redis.call('PTTL', key.lock)
local holder = mutex.holder(ttl)
if holder == false then return {WRONG_KIND, 0, 0} end
if try.is_over() then return {OVER, 0, 0} end
if not holder then return once.done() or holds.apart() or mutex.grant() end
return mutex.meet() or holds.apart() or acquire.busy(holder, ttl, waiters.place(waiters))
