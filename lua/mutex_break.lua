-- include: base clock call server rights rights_break tell foreign front waiters queue mutex lost broken
-- Takes `run` or `fair` away from its holder, all of its holds, and wakes the next. The token stays:
-- the next holder's is larger. Sent again it finds another holder, or none, and takes nothing more.
-- KEYS and ARGV: base.lua, queue.lua, broken.lua.
--
-- Reply {RELEASED, 0, 0} | {LOST, 0, 0}: the holder that was shown does not hold it | {WRONG_KIND, 0, 0}
local rights_of = 'break'
-- include: rights_ask
local holder = mutex.holder(redis.call('PTTL', key.lock))
if holder == false then return {WRONG_KIND, 0, 0} end
if holder ~= victim then return lost(key.info) end
redis.call('DEL', key.lock, key.info, KEYS[4])
tell_victim()
queue.wake_next()
return {RELEASED, 0, 0}
