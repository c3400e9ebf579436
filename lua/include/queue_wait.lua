-- queue_wait.lua: standing in the fair queue.

-- The caller has a higher priority than the head.
function queue.overtakes()
    return call.priority > tickets.priority(queue.head_ticket)
end

local function is_last(owner) return redis.call('LRANGE', queue.list, '-1', '-1')[1] == owner end

-- These of ours have let so many past: each of those that is Redisson's takes a patience off all scores when it has the
-- lock, and would leave stale ones behind.
local function postpone(low, by)
    local at, later = redis.call('LPOS', queue.list, low[1]) - by, {}
    local scores = queue.scores(at, at + waiters.FRONT)
    for _, owner in ipairs(low) do
        if scores[owner] then
            later[#later + 1] = scores[owner] + by * queue.PATIENCE
            later[#later + 1] = owner
        end
    end
    if #later > 0 then redis.call('ZADD', queue.timeouts, 'XX', unpack(later)) end
end

-- Where ours of a priority below 0 wait, lets a few of those that stand behind them past: Redisson's, and all that came
-- after those. Returns whether there were any.
function queue.let_past()
    local last = redis.call('ZRANGE', queue.waiters, '-1', '-1')[1]
    local at = not is_last(last) and redis.call('LPOS', queue.list, last)
    if not at then return false end
    local low = redis.call('ZRANGEBYSCORE', queue.waiters, tickets.BAND, '+inf', 'LIMIT', '0', waiters.FRONT)
    local passed = 0
    for _, owner in ipairs(redis.call('LRANGE', queue.list, at + 1, at + waiters.A_FEW)) do
        if redis.call('LINSERT', queue.list, 'BEFORE', low[1], owner) < 1 then break end
        redis.call('LREM', queue.list, '-1', owner)
        passed = passed + 1
    end
    if passed > 0 then postpone(low, passed) end
    call.has_cleaned = call.has_cleaned or passed > 0
    return passed > 0
end

-- waiters.tend() has found them dead. One that had overtaken Redisson's is no place nearer for them; where one has, the
-- head has.
function queue.bury(dead)
    local first, by = math.huge, 0
    local length, others = queue.length()
    local overtaken = others > 0 and queue.head_ticket < 0
    local tickets_of = overtaken and queue.scored(queue.waiters, 0, queue.NEAR - 1) or {}
    for _, owner in ipairs(dead) do
        local at = others > 0 and redis.call('LPOS', queue.list, owner) or 0
        local was_in = redis.call('LREM', queue.list, '1', owner) == 1
        if (tickets_of[owner] or 0) >= 0 then
            by = by + 1
            first = was_in and math.min(first, at) or first
        end
    end
    queue.forget(unpack(dead))
    if first < math.huge then queue.move_up(first, by, length - #dead, others) end
    queue.settle(length - #dead, others)
end

local function named(known)
    local note = known.note and (' (%s)'):format(tostring(known.note)) or ''
    return ('%s@%s pid %s'):format(tostring(known.user), tostring(known.host), tostring(known.pid)) .. note
end

-- Among --supersede waiters only the newest stays. Without Redisson's clients in the queue only the last waiter's score
-- matters, and that will be the caller's.
local function supersede(ticket)
    local newest = queue.newest()
    local is_ousted = newest and newest.owner ~= call.owner and not newest.has_left
    local at = is_ousted and queue.take_out(newest.owner)
    if at then
        call.has_cleaned = true
        server.tell(newest.owner, '0')
        local length, others = queue.length()
        others = others + 1 -- the caller is not in the list yet
        local by = queue.counts(tickets.priority(newest.ticket))
        if others > 0 then queue.move_up(at, by, length, others) end
    end
    queue.note_newest({ticket = ticket, waited = call.waited, owner = call.owner, name = named(cjson.decode(call.us()))})
    if is_ousted then queue.note_ousted(newest.owner) end
end

-- Whether the newest came after the caller, which comes here only now, having waited for other names. Two that came
-- together may be taken for one another; a newest that came later than now is no reason: the clock was set back.
local function comes_late(arrived)
    return call.waited > 0 and arrived <= server.now and server.now - call.waited < arrived
end

-- A later one has come. Asked again after a lost answer it is still true: its leaving takes the word away. Returns
-- its name; nil: none has.
function queue.ousted_by()
    if call.variant ~= 'supersede' then return nil end
    local newest = queue.newest()
    if not newest or newest.owner == call.owner then return nil end
    local came, last = call.ticket or waiters.stands_in(queue), tickets.came(newest.ticket)
    if came then return tickets.came(came) <= last and newest.name or nil end -- two may have come in one ms
    return (queue.is_ousted(call.owner) or comes_late(last - newest.waited)) and newest.name or nil
end

-- The largest ticket below this one, which is not larger than all; nil: there is none.
local function last_below(ticket)
    local next_one = redis.call('ZRANGEBYSCORE', queue.waiters, ticket, '+inf', 'LIMIT', '0', '1')[1]
    local rank = redis.call('ZRANK', queue.waiters, next_one)
    return rank > 0 and tonumber(redis.call('ZRANGE', queue.waiters, rank - 1, rank - 1, 'WITHSCORES')[2]) or nil
end

-- The ticket of a caller that is new: larger than those of its priority, and later than that of the newest that it
-- supersedes.
local function next_ticket()
    local rise, last = call.priority * tickets.BAND, queue.last_ticket
    if last and last >= tickets.BAND - rise then last = last_below(tickets.BAND - rise) end
    local newest = call.variant == 'supersede' and queue.newest()
    return math.max(server.now, last and last + rise + 1 or 0, newest and tickets.came(newest.ticket) + 1 or 0) - rise
end

-- Puts the caller into the list. beside(): before or after another, if that is in it.
local function append() redis.call('RPUSH', queue.list, call.owner) end
local function beside(where, other) return redis.call('LINSERT', queue.list, where, other, call.owner) > 0 end

-- It stands before all of Redisson's, and moves nobody's score.
local function overtake()
    local rank = redis.call('ZRANK', queue.waiters, call.owner)
    local before = rank > 0 and redis.call('ZRANGE', queue.waiters, rank - 1, rank - 1)[1]
    if before and beside('AFTER', before) then return end
    local first = redis.call('LRANGE', queue.list, '0', '0')[1]
    if not first or not beside('BEFORE', first) then append() end
end

-- At the end, or where its ticket says among ours. Where some are still to be let past ours
-- of a priority below 0, see queue.let_past(), one without a priority comes behind them.
local function insert(ticket, others)
    local priority, is_first = call.priority, (queue.last_ticket or 0) < tickets.BAND
    if priority > 0 then return overtake() end
    local is_end = is_first or priority == 0 and others > 0 and not is_last(queue.last)
    if is_end and not call.ticket then return append() end
    local after = ('(%.0f'):format(ticket)
    local behind = redis.call('ZRANGEBYSCORE', queue.waiters, after, '+inf', 'LIMIT', '0', '1')[1]
    if behind and beside('BEFORE', behind) then
        -- Redisson's next one counts by the score of the last, which is a place farther now
        if not is_first then redis.call('ZADD', queue.timeouts, 'XX', 'INCR', queue.PATIENCE, queue.last) end
    elseif is_first or behind or not beside('AFTER', queue.last) then
        append()
    end
end

-- From 0; false: it is not in the list, for Redisson may have dropped it. As long as all are rlock's nobody is searched
-- for.
local function place(others)
    local rank = others == 0 and redis.call('ZRANK', queue.waiters, call.owner)
    if rank and redis.call('LRANGE', queue.list, rank, rank)[1] == call.owner then return rank end
    return redis.call('LPOS', queue.list, call.owner)
end

-- What Redisson's score would be just now: that of the one before it, and a patience; of the head the rest
-- of the lease, and a patience. The one before it may be Redisson's and late: it will be dropped, but each of
-- those that enter before us takes its patience from our score.
local function score(at, others, left)
    local rest = server.now + math.max(left, 0)
    if call.priority > 0 then at = 0 end
    if others == 0 or at == 0 then return rest + (at + 1) * queue.PATIENCE end
    local first = math.max(at - waiters.FRONT, 0)
    local before, scores = redis.call('LRANGE', queue.list, first, at - 1), queue.scores(first, at)
    for _, owner in ipairs(before) do rest = math.max(scores[owner] or 0, rest) end
    return rest + queue.PATIENCE
end

-- The caller stands in the queue, or sends a heartbeat. Returns what waiters.place() does.
-- left: ms until the lock expires.
function queue.place(left)
    local length, others = queue.length()
    if length == 0 then redis.call('DEL', queue.timeouts) end -- see queue.settle()
    if not call.enqueue then
        local again_ms = length > 0 and waiters.tend(queue, nil, length - others)
        redis.call('PEXPIRE', queue.front, waiters.lifetime(length)) -- tend() may have made them
        return length + 1, length, again_ms, 0
    end
    local ticket, is_new = waiters.enter(queue, length - others, next_ticket)
    if is_new and call.variant == 'supersede' then supersede(ticket) end
    local rank = others ~= 0 and redis.call('ZRANK', queue.waiters, call.owner)
    local at = not is_new and place(others)
    local ends_ours = at and ticket >= tickets.BAND and rank == length - others - 1
    if ends_ours and at < length - 1 and queue.let_past() then at = place(others) end
    local stood = at
    if not stood then
        insert(ticket, others)
        length, others = queue.length()
        at = place(others)
    end
    if not stood or others == 0 or at < waiters.FRONT or call.priority < 0 then
        redis.call('ZADD', queue.timeouts, score(at, others, left), call.owner)
    end
    queue.settle(length, others)
    for _, each in ipairs(others == 0 and {queue.list, queue.timeouts} or {}) do
        redis.call('PEXPIRE', each, waiters.lifetime(length))
    end
    rank = others == 0 and at or rank or redis.call('ZRANK', queue.waiters, call.owner) or 0
    call.overtakes = is_new and rank + 1 < length - others
    local again_ms = waiters.tend(queue, rank + 1, length - others)
    -- Superseded owners that are away stay known while all waiters have --supersede.
    waiters.expire(queue, length, is_new, call.variant == 'supersede' and try.REMEMBER)
    return at + 1, length, again_ms, ticket
end
