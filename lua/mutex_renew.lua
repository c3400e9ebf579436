-- Renews the lease of one hold, and of nobody else's.
--
-- KEYS  1 lock  2 fencing token  3 info  4 hold  5 waiters (as in mutex_acquire)
-- ARGV  1 owner  2 lease ms  3 hold id  4 permits (1)
-- Reply {KEPT, lease ms, 0} | {LOST, 0, 0}: it is gone, or someone else's
local KEPT, LOST = 1, 0

local lock, _, info, hold = unpack(KEYS)
local owner, lease, id = ARGV[1], tonumber(ARGV[2]), ARGV[3]

local ours = redis.call('TYPE', lock).ok == 'hash' and redis.call('HEXISTS', lock, owner) == 1
if not ours or redis.call('HEXISTS', hold, id) == 0 then
    if not ours then -- what was said of us beside the lock is said of nobody now
        redis.call('HDEL', info, owner)
        redis.call('HDEL', hold, owner, id)
    end
    return {LOST, 0, 0}
end
-- Never shortened: an enclosing hold of the same owner may have the longer lease.
local left = math.max(redis.call('PTTL', lock), lease)
for _, key in ipairs({lock, info, hold}) do redis.call('PEXPIRE', key, left) end
return {KEPT, left, 0}
