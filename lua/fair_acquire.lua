-- include: base try line queue acquire mutex mutex_take
-- Takes the lock of `fair`, first come first served, or stands in the queue for it.
-- KEYS and ARGV: base.lua, mutex.lua, queue.lua. Reply: mutex_acquire.lua, and
--       {OUSTED, 0, 0, why}: one that came later with --supersede stands in our place
local holder = mutex.holder()
if holder == false then return {code.WRONG_KIND, 0, 0} end
if try.is_over() then return {code.OVER, 0, 0} end
if holder then
    local again = mutex.again(holder)
    if again then return again end
end
-- Refused when memory is out, before anything is written: what comes later would not be any more.
if not holder then redis.call('ZADD', queue.timeouts, 'XX', 0, '') end
queue.drop_dead()
local by = queue.ousted_by()
if by then return {code.OUSTED, 0, 0, 'superseded by ' .. by} end
local head = queue.head()
if not holder and (not head or head == call.owner) then
    queue.leave(call.owner)
    queue.tell_lease()
    return mutex.grant()
end
local waiting = redis.call('LLEN', queue.list)
local place = waiting + 1
if ARGV[8] == '1' then
    local refusal = not redis.call('LPOS', queue.list, call.owner) and (server.denies_any(mutex.rights())
        or server.denies_any({{'PERSIST'}, {'RPUSH', 'ZSCORE'}, {'LRANGE', 'LREM'}}))
    if refusal then return refusal end
    place, waiting = queue.stand(acquire.us())
end
if holder then return acquire.busy(holder, redis.call('PTTL', key.lock), place, waiting) end
queue.wake() -- free, and the head's: it may stand there since a moment ago
return acquire.busy(head, -1, place, waiting)
