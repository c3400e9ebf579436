-- queue_wait.lua: standing in the fair queue.

-- waiters.tend() has found them dead.
function queue.bury(dead)
    local first = math.huge
    local length, others = queue.length()
    for _, owner in ipairs(dead) do
        local at = others > 0 and redis.call('LPOS', queue.list, owner) or 0
        if redis.call('LREM', queue.list, '1', owner) == 1 then first = math.min(first, at) end
    end
    queue.forget(unpack(dead))
    if first < math.huge then queue.move_up(first, #dead, length - #dead, others) end
    queue.settle(length - #dead, others)
end

local function named(known)
    local note = known.note and (' (%s)'):format(tostring(known.note)) or ''
    return ('%s@%s pid %s'):format(tostring(known.user), tostring(known.host), tostring(known.pid)) .. note
end

-- Among --supersede waiters only the newest stays. Without Redisson's clients in the queue only the last waiter's score
-- matters, and that will be the caller's.
local function supersede(ticket)
    local _, newest = queue.newest()
    local at = newest and newest ~= call.owner and queue.take_out(newest)
    if at then
        call.has_cleaned = true
        server.tell(newest, '0')
        local length, others = queue.length()
        others = others + 1 -- the caller is not in the list yet
        if others > 0 then queue.move_up(at, 1, length, others) end
    end
    queue.note_newest(ticket, call.owner, named(cjson.decode(call.us())))
    if newest and newest ~= call.owner and newest ~= '-' then redis.call('HSET', key.shown, '>', newest) end
end

-- A later one has come. Asked again after a lost answer it is still true: its leaving takes the word away. Returns
-- who it is; nil: nobody.
function queue.ousted_by()
    if call.variant ~= 'supersede' then return nil end
    local ticket, newest, name = queue.newest()
    if not ticket or newest == call.owner then return nil end
    local came = call.ticket or waiters.stands_in(queue)
    return (came and came < ticket or not came and queue.ousted() == call.owner) and name or nil
end

-- Puts the caller into the list, at the end, or where its ticket says.
local function insert()
    local after = call.ticket and ('(%.0f'):format(call.ticket)
    local behind = after and redis.call('ZRANGEBYSCORE', queue.waiters, after, '+inf', 'LIMIT', '0', '1')[1]
    if not behind or redis.call('LINSERT', queue.list, 'BEFORE', behind, call.owner) < 1 then
        redis.call('RPUSH', queue.list, call.owner)
    end
end

-- From 0. As long as all are rlock's nobody is searched for.
local function place(others)
    if others == 0 then return redis.call('ZRANK', queue.waiters, call.owner) end
    return redis.call('LPOS', queue.list, call.owner)
end

-- What Redisson's score would be just now: that of the one before it, and a patience; of the head the rest
-- of the lease, and a patience. The one before it may be Redisson's and late: it will be dropped, but each of
-- those that enter before us takes its patience from our score.
local function score(at, others, left)
    local rest = server.now + math.max(left, 0)
    if others == 0 or at == 0 then return rest + (at + 1) * queue.PATIENCE end
    local first = math.max(at - queue.AHEAD, 0)
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
    local ticket, is_new = waiters.enter(queue, length - others, call.variant == 'supersede' and queue.newest())
    if is_new and call.variant == 'supersede' then supersede(ticket) end
    local at = not is_new and place(others)
    local stood = at
    if not stood then
        insert()
        length, others = queue.length()
        at = place(others)
    end
    if not stood or others == 0 or at < waiters.FRONT then
        redis.call('ZADD', queue.timeouts, score(at, others, left), call.owner)
    end
    queue.settle(length, others)
    for _, each in ipairs(others == 0 and {queue.list, queue.timeouts} or {}) do
        redis.call('PEXPIRE', each, waiters.lifetime(length))
    end
    local rank = others == 0 and at or redis.call('ZRANK', queue.waiters, call.owner) or 0
    local again_ms = waiters.tend(queue, rank + 1, length - others)
    waiters.expire(queue, length, is_new, is_new)
    return at + 1, length, again_ms, ticket
end
