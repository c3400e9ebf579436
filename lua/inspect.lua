--!df flags=allow-undeclared-keys
-- include: base clock call server token foreign front tickets rw_lease_key sem_permit sem_hex
-- include: inspect inspect_waiters inspect_kinds
-- Says what is known of one name, whatever its kind, a page at a time, and writes nothing. However much there is to
-- see, a page looks at about as many entries as it is told to, so that looking keeps nobody waiting.
-- KEYS and ARGV: base.lua, inspect.lua; ARGV 7 where to go on, as the last page said, '' at first; 8 how many waiters,
-- holds or permits to look at.
--
-- Reply {SEEN, epoch ms, held: 1 or 0, kind, token, permits in all, of them available, count,
--        {owner, host, pid, user, command, since, ttl ms, holds, token, permits, writes,
--        kept, note, preemptible, id, no command} for some of the holders,
--        {owner, since, user, command, note} for some of the waiters, first in line first,
--        1 where a "latch" may as well be a semaphore of Redisson's,
--        {host, pid, user, command, exit status, ms it took, ended, last success} of the last run with
--        --once-per, or {}, leased permits in use,
--        {owner, id, ttl ms, writes} for some of the holders' parts,
--        where to go on: '' when that was all} | {WRONG_KIND, 0, 0}
-- Unknown numbers are -1, unknown texts and the permits of what has none ''; tokens are digits.
--
-- The first page says all but the lists; that nobody holds it, holders on later pages correct. Entries move while
-- others come and go: each may come twice, known by its owner and id.
-- The parts of a holder of `run`, `fair`, `read` and `write` are its holds: where it has any, they say how many live,
-- and for how long. Without a holder they are over.
-- The parts of a semaphore's are its permits, by id: a hold's have its first 24 digits, others are Redisson's. '5 0' as
-- the place to go on goes through them, which is needed only where the holders have fewer than are in use.
local SEEN, LINES = 1, 3

local step, position = string.match(ARGV[7], '^(%d) (<?%d+)$')
step, position = tonumber(step or 1), position or '0'
local wants_permits = step == 5

-- What somebody else has put under a key beside the lock is passed over: only NAME's own says what it is.
local function go_through(one, at)
    local seen, after = pcall(one, at)
    local why = type(after) == 'table' and after.err or after
    if seen or string.find(tostring(why), 'WRONGTYPE', 1, true) then return seen and after end
    return one(at) -- for the error that it raises
end

local function go_on(last)
    while step <= last and inspect.left > 0 do
        position = go_through(steps[step], position)
        if not position then step, position = step + 1, '0' end
    end
end

go_on(LINES)
local steps_of, is_lock = inspect.kind()
if not is_lock then return {WRONG_KIND, 0, 0} end
for _, each in ipairs(steps_of) do steps[#steps + 1] = each end
local last = view.kind == 'sem' and not wants_permits and LINES + 1 or #steps
go_on(last)
return {SEEN, server.now, (view.count > 0 or view.exhausted) and 1 or 0, view.kind, inspect.get(key.token) or '',
    view.total, view.available, view.count, view.holders, view.waiters, view.bare and 1 or 0, inspect.last_run(),
    view.leased, view.parts, step <= last and step .. ' ' .. position or ''}
