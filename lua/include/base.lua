-- base.lua: what every script begins with. The contract of all scripts is in rlock-internals(7).
--
-- KEYS  1 lock  2 fencing token: counter  3 info: hash {owner: JSON}
--       4 hold: hash, the proofs and attempts of the holders
--       5 waiters, 6 front and 7 shown: see waiters.lua  8... the kind's own
--       the last, of what takes or gives back: tombstone, see try.lua; before it, where it is asked for:
--       record, see once.lua
-- ARGV  1 owner  2 lease ms, of plain permits longer than any: sem.lua
--       3 attempt id (becomes the hold's id), and '.' and the try's number: try.lua  4 permits
--       5 'PUBLISH CHANNEL', or 'SPUBLISH CHANNEL' in a cluster that knows it
--       6 '1': check first whether the user has all rights (rights_ask.lua); '2': and whether the server can tell
--       what is on disk; else '0'
--       to take it, see acquire.lua:
--                        7 '1' to stand in line when busy, '0' not to; '2' to re-enter the hold around it, or nothing;
--                          '3' as '1', of several names one that another is waited for before: it is taken if it is
--                          free, whose turn it may be
--                        8 what others are shown, as members of a JSON object
--                        and of these, which may all be '', as many as are needed:
--                        9 permits in all  10 the kind's variant  11 owner and 12 token of an enclosing hold
--                        13 place in line that the last answer gave  14 ticket: waiters.lua
--                        15 ms: no run is wanted where one has succeeded within so long: once.lua
--                        16 our name, to ask the holder to end: acquire.lua  17 key with which no run has succeeded: once.lua
--                        18 priority of `fair`, where it is not 0: queue.lua
--                        19 with the variant 'supersede', ms for which it has waited for other names
--       to give it back, of these as many as are needed, see give.lua:
--                        7 exit status of the run that is over  8 ms to leave it held for, without an owner
--                        9 the owner it waited as, and holds as if it did not re-enter
--                        10 '1': a request to take it may still be on its way: try.lua
--                        11 as 15 above  12 how long the run took, ms  13 what others are shown of it, as 8 above
--                        14 as 17 above  15 as 18 above
if not redis.setresp and _VERSION == 'Lua 5.1' then -- it came with Redis 6.0; a server with another Lua is newer
    return redis.error_reply('ERR older than Redis 6.0')
end
local GRANTED, REENTERED, BUSY = 1, 2, 0 -- to take it
local WRONG_KIND = -1 -- something else stands under the name
local KEPT = 1 -- to renew it
local RELEASED, STILL_HELD = 1, 2 -- to give it back; an outer hold of the same owner remains
local LOST = 0 -- not there: expired, broken, given back before, never taken
