-- queue.lua: the fair queue: a line (waiters.lua) that gives a right. List and scores are Redisson's, which drops
-- a waiter at the head when its score, an epoch ms, has passed.
--
-- The list begins with our waiters of a priority above 0, and ends with those below it; between them stand Redisson's,
-- and ours without one, as they came. Redisson puts its next one behind all: queue_wait.lua lets it past.
--
-- KEYS  7 shown, as in waiters.lua, and besides {'': "TICKET WAITED OWNER NAME" of the last that came with --supersede:
--         WAITED: ms for which it had waited for other names before; '-' stands before OWNER when it has left.
--         '>1' to '>3': owners that have lost their places and not left yet}
--       8 queue: list of owners  9 timeouts: zset {owner: epoch ms}
--       10 waiters and 11 front: of rlock's own in it, as in waiters.lua
local queue = {
    list = KEYS[8], timeouts = KEYS[9], waiters = KEYS[10], front = KEYS[11],
    PATIENCE = 300000, -- Redisson's, for one place
    NEAR = 100, -- so many places behind one that leaves are told apart; of FRONT before one the latest score counts
}

local function is_ours(owner) return string.find(owner, '@', 1, true) end

-- Its ticket, 0 for Redisson's. Nil: it does not wait any more, being Redisson's whose time is over, or was lost; or
-- one of rlock's that does not stand in our line, which has expired.
local function ticket_of(owner)
    if is_ours(owner) then return tonumber(redis.call('ZSCORE', queue.waiters, owner) or nil) end
    return tonumber(redis.call('ZSCORE', queue.timeouts, owner) or 0) > server.now and 0 or nil
end

local function drop(owner)
    redis.call('ZREM', queue.timeouts, owner)
    redis.call('LREM', queue.list, '1', owner)
end

-- Those between these ranks of a zset, {owner: score}.
function queue.scored(zset, from, to)
    local some, scores = redis.call('ZRANGE', zset, from, to, 'WITHSCORES'), {}
    for i = 1, #some, 2 do scores[some[i]] = tonumber(some[i + 1]) end
    return scores
end

-- The first that waits, and its ticket, where many stand before it that do not: a Java service has died.
local function search()
    local due = queue.scored(queue.timeouts, 0, queue.NEAR - 1)
    local tickets_of = queue.scored(queue.waiters, 0, queue.NEAR - 1)
    for _, owner in ipairs(redis.call('LRANGE', queue.list, '0', queue.NEAR - 1)) do
        if tickets_of[owner] then return owner, tickets_of[owner] end
        if not is_ours(owner) and (due[owner] or 0) > server.now then return owner, 0 end
    end
    return redis.call('ZRANGE', queue.waiters, '0', '0')[1], -math.huge
end

-- The one to let in first; nil: nobody waits. drops: those that wait no more are taken out, a few at a time. Its ticket
-- is in queue.head_ticket then; the smallest there is, where it was not looked at. queue.is_long: some may be left in it.
function queue.head(drops)
    local first = redis.call('LRANGE', queue.list, '0', waiters.A_FEW - 1)
    queue.is_long = #first == waiters.A_FEW
    for _, owner in ipairs(first) do
        local ticket = ticket_of(owner)
        if ticket then
            queue.head_ticket = ticket
            return owner
        end
        if drops then drop(owner) end
    end
    queue.head_ticket = -math.huge
    if not queue.is_long then return nil end
    local head
    head, queue.head_ticket = search()
    return head
end

-- Wakes the head, which the caller may know. False: there is none, or it does not listen.
function queue.wake(head)
    head = head or queue.head()
    if not head then return false end
    if is_ours(head) then waiters.expect(queue, {[head] = true}) end
    return server.tell(head, '0')
end

-- Wakes the next waiter when `run` or `fair` is free: the head of the queue alone, if it listens; else one that waits
-- without a place in it.
function queue.wake_next()
    if queue.wake() then return end
    server.tell_all('0')
    waiters.wake(waiters)
end
