-- include: base
-- Gives one hold of `run` or `fair` back, leaves line and queue, and wakes the next. Sent again
-- after a lost answer it finds its hold gone and takes nothing more. KEYS and ARGV: base.lua,
-- queue.lua.
--
-- Reply {RELEASED, 0, 0} | {STILL_HELD, holds left, 0} | {LOST, 0, 0}
-- Nearly always: it is the only hold, nothing else is wanted, no record is kept of runs, and nobody waits.
if not ARGV[8] and string.sub(ARGV[3], 33) == '.1'
    and redis.call('EXISTS', KEYS[5], KEYS[8], KEYS[#KEYS - 1], KEYS[#KEYS]) == 0
    and redis.pcall('HGET', KEYS[1], ARGV[1]) == '1' then
    local all = redis.call('ZRANGE', KEYS[4], '0', '1')
    if #all == 1 and all[1] == ARGV[1] .. ' ' .. string.sub(ARGV[3], 1, 32) then
        redis.call('DEL', KEYS[1], KEYS[3], KEYS[4])
        local publish, channel = string.match(ARGV[5], '^(S?PUBLISH) (.*)$')
        redis.pcall(publish, channel, '0')
        return {RELEASED, 0, 0}
    end
end

-- include: clock call server tell try lost give once once_note front waiters queue queue_newest queue_leave
-- include: holds holds_keep holds_end holds_give
local waiter = call.waiter

-- It may have been told what was meant for the next: pass it on.
local function leave()
    local was_first = waiters.leave(waiters, waiter)
    local was_head = queue.leave(waiter) == 0
    local left = redis.call('PTTL', key.lock)
    if left ~= -2 then
        if was_first then waiters.tell(waiters, 'first ' .. math.max(left, 0)) end
        if was_head then queue.tell_lease(math.max(left, 0)) end
    elseif not queue.wake() then
        waiters.wake(waiters)
    end
end

local function give_back()
    local field, lives, number = holds.give_back(call.owner, waiter)
    local left = field and holds.longest()
    if field then holds.settle(left) end
    if not lives then
        leave()
        return {LOST, 0, 0}
    end
    if not left then
        redis.call('DEL', key.lock) -- whatever is in it is over
        queue.wake_next()
    elseif number == 0 then -- what --min-hold keeps is all that is left of it
        server.tell_all('0') -- it ends sooner than the waiters were told
        queue.tell_lease(left, true)
    end
    return {number > 0 and STILL_HELD or RELEASED, number, 0}
end

return try.give_back(function()
    local answer = give_back()
    if answer[1] ~= LOST then once.note() end
    return answer
end)
