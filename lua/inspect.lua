-- include: base clock channel token server inspect inspect_kinds
-- Says all that is known of one name, whatever its kind, and writes nothing.
-- KEYS and ARGV: base.lua, inspect.lua.
--
-- Reply {SEEN, epoch ms, held: 1 or 0, kind, token, permits in all, of them available, count,
--        {owner, host, pid, user, command, since, ttl ms, holds, token, permits, writes,
--        kept, note, preemptible} for each holder,
--        {owner, since, user, command, note} for each waiter, first in line first,
--        1 where a "latch" may as well be a semaphore of Redisson's,
--        {host, pid, user, command, exit status, ms it took, ended, last success} of the last run with
--        --once-per, or {}} | {WRONG_KIND, 0, 0}
-- Unknown numbers are -1, unknown texts and the permits of what has none ''; tokens are digits.
local SEEN = 1

local waited_for = inspect.add_waiters()
local kind = redis.call('TYPE', key.lock).ok
if kind == 'hash' then
    if not inspect.at_hash() then return {WRONG_KIND, 0, 0} end
elseif kind == 'string' then
    local number = server.integer(key.lock)
    if not number then return {WRONG_KIND, 0, 0} end
    inspect.at_number(number)
elseif kind ~= 'none' then
    return {WRONG_KIND, 0, 0}
elseif redis.call('TYPE', inspect.permits).ok == 'zset' then -- its number was lost
    inspect.at_sem(nil)
else
    view.kind = waited_for
end
if view.kind == 'run' and waited_for == 'fair' then view.kind = 'fair' end
table.sort(view.holders, function(a, b)
    if a[6] ~= b[6] then return a[6] > b[6] end -- the newest first
    return a[1] < b[1]
end)
local taken = #view.holders > 0 or view.count > 0 or view.exhausted
return {SEEN, server.now, taken and 1 or 0, view.kind, redis.call('GET', key.token) or '', view.total,
    view.available or '', view.count, view.holders, view.waiters, view.bare and 1 or 0,
    inspect.last_run()}
