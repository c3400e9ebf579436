-- include: base simple clock token rights rights_mutex grant
-- Takes the lock of `fair`, first come first served among those of one priority, or stands in the queue for it.
-- KEYS and ARGV: base.lua, mutex.lua, queue.lua. Reply: mutex_acquire.lua, and
--       {OUSTED, 0, 0, why}: one that came later with --supersede stands in our place
local list, timeouts = KEYS[8], KEYS[9]
local refusal = rights.refusal('run') or rights.refusal('fair')
if refusal then return refusal end
if call.is_simple(ARGV[9], key.lock, key.info, KEYS[4], list) then
    local granted = grant(call.owner)
    redis.call('DEL', timeouts) -- see queue.settle()
    return granted
end

-- include: server foreign mutex try once once_done front tickets waiters waiting acquire
-- include: holds holds_keep holds_take mutex_take queue queue_newest queue_leave queue_wait
local ttl = redis.call('PTTL', key.lock)
local holder = mutex.holder(ttl)
if holder == false then return {WRONG_KIND, 0, 0} end
if try.is_over() then return {OVER, 0, 0} end
local answer
if holder then answer = mutex.meet() else answer = once.done() end
if answer then return answer end
local by = queue.ousted_by()
if by then return {OUSTED, 0, 0, 'superseded by ' .. by} end
local head = queue.head(true)
if head and queue.head_ticket >= tickets.BAND and queue.let_past() then head = queue.head() end
if not holder and (not head or head == call.owner or queue.overtakes()) then
    local granted = mutex.grant()
    if head or call.came_back or call.variant == 'supersede' and queue.newest() then
        queue.leave(call.owner)
        queue.tell_lease(call.lease)
    else
        redis.call('DEL', queue.timeouts) -- see queue.settle()
    end
    return granted
end
if not holder then
    queue.wake(head) -- free, and its turn: it may stand there since a moment ago
    call.preempts_as = nil
end
return acquire.busy(holder or head, holder and ttl or -1, queue.place(ttl))
