-- include: base channel simple
-- Gives one hold of `run` or `fair` back, leaves line and queue, and wakes the next. Sent again
-- after a lost answer it finds its hold gone and takes nothing more. KEYS and ARGV: base.lua,
-- queue.lua.
--
-- Reply {RELEASED, 0, 0} | {STILL_HELD, holds left, 0} | {LOST, 0, 0}
local list = KEYS[7]
-- Nearly always: it is the only hold, nothing else is wanted, and nobody waits.
if is_simple(ARGV[7], list) and redis.pcall('HGET', key.lock, call.owner) == '1'
    and redis.call('HGET', key.hold, call.id) and not redis.call('HGET', key.hold, 'until') then
    redis.call('DEL', key.lock, key.info, key.hold)
    redis.pcall(publish, channel, '0')
    return {RELEASED, 0, 0}
end

-- include: clock kind server giving try once waiters queue mutex mutex_wake kept
local owner, keep_ms, waiter = call.owner, call.keep_ms, call.waiter

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

local function longest_lease()
    local longest = 1
    local fields = redis.call('HGETALL', key.hold)
    for i = 1, #fields, 2 do
        if string.find(fields[i], '^%x+$') then
            longest = math.max(longest, tonumber(fields[i + 1]))
        end
    end
    return longest
end

local function give_back_one(left)
    redis.call('HDEL', key.hold, call.id) -- the first write is one that is allowed when memory is out
    redis.call('HSET', key.lock, owner, left)
    if keep_ms > 0 then
        local until_ms = tonumber(redis.call('HGET', key.hold, 'until') or 0)
        redis.call('HSET', key.hold, 'until', math.max(until_ms, server.now + keep_ms))
    end
    server.expire(longest_lease()) -- of the holds that remain
    return {STILL_HELD, left, 0}
end

local function leave_held(ms)
    redis.call('DEL', key.hold) -- no proof of it any more: what CMD left behind does not re-enter
    note_kept(owner)
    redis.call('PEXPIRE', key.lock, ms)
    redis.call('PEXPIRE', key.info, ms)
    waiters.tell(waiters, 'first ' .. ms)
    queue.tell_lease(ms)
    return {RELEASED, 0, 0}
end

local function give_back()
    local holds = mutex.holds(owner)
    if not holds and waiter ~= owner then
        owner = waiter
        holds = mutex.holds(owner)
    end
    if not holds or not redis.call('HGET', key.hold, call.id) then
        if not holds then mutex.forget(call.owner, waiter, call.id) end
        leave()
        return {LOST, 0, 0}
    end
    local left = tonumber(holds) - 1
    if left > 0 then return give_back_one(left) end
    local until_ms = tonumber(redis.call('HGET', key.hold, 'until') or 0)
    keep_ms = math.max(keep_ms, until_ms - server.now)
    if keep_ms > 0 then return leave_held(keep_ms) end
    redis.call('DEL', key.lock, key.info, key.hold)
    mutex.wake_next()
    return {RELEASED, 0, 0}
end

return try.give_back(function()
    local answer = give_back()
    if answer[1] ~= LOST then once.note() end
    return answer
end)
