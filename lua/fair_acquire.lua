-- include: base clock rights token simple grant
-- Takes the lock of `fair`, first come first served, or stands in the queue for it.
-- KEYS and ARGV: base.lua, mutex.lua, queue.lua. Reply: mutex_acquire.lua, and
--       {OUSTED, 0, 0, why}: one that came later with --supersede stands in our place
local ttl, list, timeouts = redis.call('PTTL', key.lock), KEYS[7], KEYS[8]
if ttl == -2 and not redis.call('LRANGE', list, '0', '0')[1] and is_simple(ARGV[8]) then
    local granted = grant()
    if not granted.err then redis.call('DEL', timeouts) end -- see queue.settle()
    return granted
end

-- include: channel kind server request try waiters waiting acquire mutex mutex_take queue queue_wait
local holder = mutex.holder(ttl)
if holder == false then return {WRONG_KIND, 0, 0} end
if try.is_over() then return {OVER, 0, 0} end
if holder then
    local again = mutex.again(holder)
    if again then return again end
end
local by = queue.ousted_by()
if by then return {OUSTED, 0, 0, 'superseded by ' .. by} end
local head = queue.head(true)
if not holder and (not head or head == call.owner) then
    local granted = mutex.grant()
    if granted.err then return granted end
    if head or call.came_back then
        queue.leave(call.owner)
        queue.tell_lease(call.lease)
    else
        redis.call('DEL', queue.timeouts) -- see queue.settle()
    end
    return granted
end
local refusal = waiters.refusal(queue, queue.rights)
if refusal then return refusal end
if not holder and head then queue.wake(head) end -- free, and its turn: it may stand there since a moment ago
return acquire.busy(holder or head, holder and ttl or -1, queue.place(ttl))
