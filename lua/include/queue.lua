-- queue.lua: the fair queue: a line (waiters.lua) that gives a right. List and scores are Redisson's, which drops
-- a waiter at the head when its score, an epoch ms, has passed.
--
-- The list begins with our waiters of a priority above 0, and ends with those below it; between them stand Redisson's,
-- and ours without one, as they came. Redisson puts its next one behind all: queue_wait.lua lets it past.
--
-- KEYS  7 shown, as in waiters.lua, and besides {'': "TICKET WAITED OWNER NAME" of the last that came with --supersede:
--         WAITED: ms for which it had waited for other names before; '-' stands before OWNER when it has left.
--         '>1' to '>3': owners whose places were taken, and who have not left}
--       8 queue: list of owners  9 timeouts: zset {owner: epoch ms}
--       10 waiters and 11 front: of rlock's own in it, as in waiters.lua
local queue = {
    list = KEYS[8], timeouts = KEYS[9], waiters = KEYS[10], front = KEYS[11],
    PATIENCE = 300000, -- Redisson's, for one place
    NEAR = 100, -- so many places behind one that leaves are told apart
    AHEAD = 16, -- of so many before one the latest score counts
    REMEMBER = 1200000, -- ms for which it is known, where none waits without --supersede, who was superseded and is away
}

local function is_ours(owner) return string.find(owner, '@', 1, true) end

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
    local some = redis.call('ZRANGE', queue.timeouts, math.max(from - queue.AHEAD, 0), to + queue.AHEAD, 'WITHSCORES')
    local scores = {}
    for i = 1, #some, 2 do scores[some[i]] = tonumber(some[i + 1]) end
    return scores
end

-- Who leaves makes those of Redisson's behind it nearer by so many places: not by one that had overtaken them.
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
    local first = math.max(from - queue.AHEAD, 0)
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

-- The last that came with --supersede; nil: none.
function queue.newest()
    queue.known = queue.known or redis.call('HGET', key.shown, '') or ''
    local ticket, waited, left, owner, name = string.match(queue.known, '^(-?%d+) (%d+) (%-?)(%S+) (.*)$')
    return ticket and {
        ticket = tonumber(ticket), waited = tonumber(waited), has_left = left == '-', owner = owner, name = name,
    }
end

function queue.note_newest(it)
    queue.known = ('%.0f %.0f %s%s %s'):format(it.ticket, it.waited, it.has_left and '-' or '', it.owner, it.name)
    redis.call('HSET', key.shown, '', queue.known)
end

-- Those whose place was taken and who have not left: an owner or false each.
function queue.ousted()
    local function at(number) return redis.call('HGET', key.shown, '>' .. number) end
    queue.away = queue.away or {at(1), at(2), at(3)}
    return queue.away
end

local function find(owners, owner)
    for i, each in ipairs(owners) do
        if each == owner then return i end
    end
end

function queue.is_ousted(owner) return find(queue.ousted(), owner) ~= nil end

-- Of more than three that died one is forgotten.
function queue.note_ousted(owner)
    local at = find(queue.ousted(), owner) or find(queue.away, false) or server.now % 3 + 1
    queue.away[at] = owner
    redis.call('HSET', key.shown, '>' .. at, owner)
end

-- These have left. What is said of the newest stays until those whose place was taken have left, too.
function queue.forget(...)
    redis.call('ZREM', queue.timeouts, ...)
    local newest = queue.newest()
    if not newest then return end
    local had_left, away = newest.has_left, queue.ousted()
    for _, owner in ipairs({...}) do
        newest.has_left = newest.has_left or owner == newest.owner
        local at = find(away, owner)
        if at then
            away[at] = false
            redis.call('HDEL', key.shown, '>' .. at)
        end
    end
    if newest.has_left and not (away[1] or away[2] or away[3]) then
        redis.call('HDEL', key.shown, '')
        queue.known = nil
    elseif newest.has_left ~= had_left then
        queue.note_newest(newest)
    end
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

-- Its ticket, 0 for Redisson's. Nil: it does not wait any more, being Redisson's whose time is over, or was lost; or
-- one of rlock's that does not stand in our line, which has expired.
local function ticket_of(owner)
    if is_ours(owner) then return tonumber(redis.call('ZSCORE', queue.waiters, owner) or nil) end
    return tonumber(redis.call('ZSCORE', queue.timeouts, owner) or 0) > server.now and 0 or nil
end

local function drop(owner)
    redis.call('ZREM', queue.timeouts, owner)
    return redis.call('LREM', queue.list, '1', owner) == 1
end

-- The one to let in first; nil: nobody waits. drops: those that wait no more are taken out, a few at a time. Its ticket
-- is in queue.head_ticket then; the smallest there is, where it was not looked at.
function queue.head(drops)
    queue.head_ticket = -math.huge
    local first, dropped = redis.call('LRANGE', queue.list, '0', waiters.A_FEW - 1), false
    for _, owner in ipairs(first) do
        local ticket = ticket_of(owner)
        if ticket then
            queue.head_ticket = ticket
            return owner
        end
        dropped = drops and drop(owner) or dropped
    end
    if #first < waiters.A_FEW then return nil end
    return dropped and first[1] or redis.call('ZRANGE', queue.waiters, '0', '0')[1]
end

-- Wakes the head, which the caller may know. False: there is none, or it does not listen.
function queue.wake(head)
    head = head or queue.head()
    if not head then return false end
    if is_ours(head) then waiters.expect(queue, {[head] = true}) end
    return server.tell(head, '0')
end

-- Tells the new head when the lease ends: it is there then, whoever has died. Redisson's waiters take numbers only, and
-- keep time by themselves; one that has counted on a longer lease is told to look again.
function queue.tell_lease(ms, is_shorter)
    local head = queue.head()
    if head and is_ours(head) and not server.tell(head, 'first ' .. ms) then
        waiters.expect(queue, {[head] = false})
    elseif head and is_shorter and not is_ours(head) then
        server.tell(head, '0')
    end
end

-- Wakes the next waiter when `run` or `fair` is free: the head of the queue alone, if it listens; else one that waits
-- without a place in it.
function queue.wake_next()
    if queue.wake() then return end
    server.tell_all('0')
    waiters.wake(waiters)
end
