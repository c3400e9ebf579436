-- queue_leave.lua: places in the fair queue, and leaving them: queue.lua.

-- How many wait, and how many of them are not rlock's.
function queue.length()
    local all = redis.call('LLEN', queue.list)
    return all, all - redis.call('ZCARD', queue.waiters)
end

-- A queue that has others than rlock's in it does not expire, as with Redisson. Scores without a
-- queue would keep their owners out of it.
function queue.settle(length, others)
    if length == 0 then redis.call('DEL', queue.timeouts) end
    if others > 0 then
        redis.call('PERSIST', queue.list)
        redis.call('PERSIST', queue.timeouts)
    end
end

-- The scores of those that stand at these places, from 0, or near them, {owner: epoch ms}: nearly in the list's order.
function queue.scores(from, to)
    return queue.scored(queue.timeouts, math.max(from - waiters.FRONT, 0), to + waiters.FRONT)
end

-- By so many places Redisson's waiters behind one that leaves come nearer: by none if it had overtaken them.
function queue.counts(priority) return priority > 0 and 0 or 1 end

-- Some have left. Those of Redisson's behind that place, from 0, are nearer by so many patiences, and so is the
-- last one, by whose score Redisson's next one will count. One of ours, which may be dead, is not later than one
-- patience after those before it: by its score alone Redisson's waiters get past it where no rlock is left.
function queue.move_up(from, by, length, others)
    if length == 0 then return end
    local last = redis.call('LRANGE', queue.list, '-1', '-1')[1]
    local rest = server.now + math.max(redis.call('PTTL', key.lock), 0)
    if others <= 0 then
        redis.call('ZADD', queue.timeouts, 'XX', rest + length * queue.PATIENCE, last)
        return
    end
    local first = math.max(from - waiters.FRONT, 0)
    local near = redis.call('LRANGE', queue.list, first, from + queue.NEAR - 1)
    local count = #near
    if near[count] ~= last then near[count + 1] = last end
    local scores, changed, before = queue.scores(first, from + queue.NEAR), {}, rest
    scores[last] = tonumber(redis.call('ZSCORE', queue.timeouts, last) or nil)
    for i, owner in ipairs(near) do
        local score = scores[owner]
        if score and first + i > from then
            local follows = is_ours(owner) and i <= count
            score = follows and math.min(score, before + queue.PATIENCE) or score - by * queue.PATIENCE
            changed[#changed + 1] = score
            changed[#changed + 1] = owner
        end
        before = math.max(score or before, before)
    end
    if #changed > 0 then redis.call('ZADD', queue.timeouts, 'XX', unpack(changed)) end
end

-- Takes one out; moving the others up is left to the caller. False: it was not in; else the place, from 0, where it stood.
function queue.take_out(owner)
    local at = redis.call('LPOS', queue.list, owner)
    waiters.remove(queue, owner)
    queue.forget(owner)
    if at then redis.call('LREM', queue.list, '1', owner) end
    return at
end

-- The caller's leaves, whose priority is known. Returns what take_out() does.
function queue.leave(owner)
    local at = queue.take_out(owner)
    if not at then return false end
    local length, others = queue.length()
    queue.move_up(at, queue.counts(call.priority), length, others)
    queue.settle(length, others)
    return at
end

-- Tells the new head when the lease ends: it comes then, even if the holder has died. Redisson's waiters take numbers
-- only, and keep time by themselves; one that has counted on a longer lease is told to look again.
function queue.tell_lease(ms, is_shorter)
    local head = queue.head()
    if head and is_ours(head) and not server.tell(head, 'first ' .. ms) then
        waiters.expect(queue, {[head] = false})
    elseif head and is_shorter and not is_ours(head) then
        server.tell(head, '0')
    end
end
