-- include: base clock rights rights_mutex rights_fair
-- Takes the lock of `fair`, first come first served among those of one priority, or stands in the queue for it.
-- KEYS and ARGV: base.lua, mutex.lua, queue.lua. Reply: mutex_acquire.lua, and
--       {OUSTED, 0, 0, why}: one that came later with --supersede stands in our place
local rights_of = 'fair'
-- include: rights_ask
local held_as, others_left, finish = ARGV[1], nil, nil
-- Nearly always it is free, nothing but it is wanted, and nobody waits.
if ARGV[9] or string.sub(ARGV[3], 33) ~= '.1'
    or redis.call('EXISTS', KEYS[1], KEYS[3], KEYS[4], KEYS[5], KEYS[8], KEYS[#KEYS]) > 0 then
    -- include: call server tell token foreign mutex try once once_done front tickets waiters waiting acquire
    -- include: holds holds_keep holds_take mutex_take queue queue_newest queue_leave queue_wait
    local answer, holder, ttl = mutex.meet()
    if answer then return answer end
    local by = queue.ousted_by()
    if by then return {OUSTED, 0, 0, 'superseded by ' .. by} end
    local head = queue.head(true)
    if head and queue.head_ticket >= tickets.BAND and queue.let_past() then head = queue.head() end
    local is_turn = not head or head == call.owner or call.goes_first or queue.overtakes()
    if holder or not is_turn then
        if not holder then
            queue.wake(head) -- free, and its turn: it may stand there since a moment ago
            call.preempts_as = nil
        end
        return acquire.busy(holder or head, holder and ttl or -1, queue.place(ttl))
    end
    function finish()
        mutex.leave_granted()
        if head or queue.is_long or call.came_back or call.variant == 'supersede' and queue.newest() then
            queue.leave(call.owner)
            queue.tell_lease(call.lease)
        else
            redis.call('DEL', queue.timeouts) -- see queue.settle()
        end
    end
end

-- include: next_token grant
redis.call('HSET', KEYS[1], held_as, '1')
redis.call('PEXPIRE', KEYS[1], lasts)
if finish then finish() else redis.call('DEL', KEYS[9]) end -- see queue.settle()
return {GRANTED, token, tonumber(ARGV[2])}
