-- include: base clock rights rights_mutex
-- Puts a hold of `run` back, where the lock is free or the owner's already, or stands for a --min-hold of a hold inside it.
-- KEYS and ARGV: base.lua, restore.lua.
--
-- Reply {KEPT, lease ms, 0} | {LOST, 0, 0}: somebody else has it | {WRONG_KIND, 0, 0} | {OVER, 0, 0}
local rights_of = 'run'
-- include: rights_ask
-- include: call server token tell foreign holds holds_keep mutex try front waiters token_raise restore
if mutex.holder(redis.call('PTTL', key.lock)) == false then return {WRONG_KIND, 0, 0} end
if try.is_over() then return {OVER, 0, 0} end
holds.find_living(call.owner) -- if it is over, others may have seen that
local holder = mutex.holder(redis.call('PTTL', key.lock))
if holder and holder ~= call.owner and holder ~= holds.kept_by(call.owner) then return {LOST, 0, 0} end
return restore.put(call.owner, not holder)
