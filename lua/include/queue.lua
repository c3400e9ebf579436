-- queue.lua: the fair queue. List and scores are Redisson's, who drops a waiter when its score, an
-- epoch ms, has passed. What rlock's own waiters live by are their beats.
--
-- KEYS  6 queue: list of owners  7 timeouts: zset {owner: epoch ms}
--       8 beats: zset {rlock's waiter: epoch ms of its last try}
--       9 rivals: hash {waiter with --supersede: 'waits', or 'ousted WHOM BY'}
--       10 queuers: hash {rlock's waiter: JSON}, what `status` shows
local queue = {
    list = KEYS[6], timeouts = KEYS[7], beats = KEYS[8], rivals = KEYS[9],
    queuers = KEYS[10],
    PATIENCE = 300000, -- Redisson's, for one place
    DEAD_AFTER = 7000, -- without a beat; one comes at least every 2,500
    SILENCE = 5000, -- nobody has beaten for so long: it was the server that was away
    TTL = 10000, -- while all in it are rlock's, it outlives them by no more
}

-- A queue that has others than rlock's in it does not expire, as with Redisson. Scores without a
-- queue would keep their owners out of it.
local function settle()
    local length = redis.call('LLEN', queue.list)
    if length == 0 then redis.call('DEL', queue.timeouts) end
    local ours = length <= redis.call('ZCARD', queue.beats)
    for _, each in ipairs({queue.list, queue.timeouts}) do
        if ours then redis.call('PEXPIRE', each, queue.TTL) else redis.call('PERSIST', each) end
    end
    redis.call('PEXPIRE', queue.beats, ours and queue.TTL or 3 * queue.TTL)
    redis.call('PEXPIRE', queue.rivals, 3 * queue.TTL)
    redis.call('PEXPIRE', queue.queuers, queue.TTL)
end

-- Takes one out; those behind are a place, and its time, nearer. False: it was not in.
function queue.leave(owner)
    local at = redis.call('LPOS', queue.list, owner)
    redis.call('ZREM', queue.timeouts, owner)
    redis.call('ZREM', queue.beats, owner)
    redis.call('HDEL', queue.rivals, owner)
    redis.call('HDEL', queue.queuers, owner)
    if not at then return false end
    redis.call('LREM', queue.list, 1, owner)
    for _, behind in ipairs(redis.call('LRANGE', queue.list, at, -1)) do
        redis.call('ZADD', queue.timeouts, 'XX', 'INCR', -queue.PATIENCE, behind)
    end
    settle()
    return at
end

-- x and {x} have one queue. One of rlock's waiters, whose owner has an "@", that does not beat here waits for
-- the other name.
local function is_stranger(owner)
    return string.find(owner, '@', 1, true) and not redis.call('ZSCORE', queue.beats, owner)
end

-- Who is to be let in first; nil: nobody waits.
function queue.head()
    local head = redis.call('LINDEX', queue.list, 0)
    if not head or not is_stranger(head) then return head end
    for _, owner in ipairs(redis.call('LRANGE', queue.list, 0, -1)) do
        if not is_stranger(owner) then return owner end
    end
end

-- While nobody beat, nobody could: that time does not count against anyone.
local function forgive_silence()
    local newest = redis.call('ZRANGE', queue.beats, -1, -1, 'WITHSCORES')[2]
    local silence = newest and server.now - newest or 0
    if silence <= queue.SILENCE then return end
    for _, owner in ipairs(redis.call('ZRANGE', queue.beats, 0, -1)) do
        redis.call('ZADD', queue.beats, 'XX', 'INCR', silence, owner)
    end
end

-- Of rlock's waiters all that are dead, wherever they stand; of Redisson's those at the head whose
-- time is over, or was lost.
function queue.drop_dead()
    if ARGV[8] == '1' then forgive_silence() end
    for _, dead in ipairs(redis.call('ZRANGEBYSCORE', queue.beats, '-inf', server.now - queue.DEAD_AFTER)) do
        if dead ~= call.owner then queue.leave(dead) end
    end
    while true do
        local head = redis.call('LINDEX', queue.list, 0)
        if not head then return settle() end
        local ends = tonumber(redis.call('ZSCORE', queue.timeouts, head) or 0)
        local lives = ends > server.now or head == call.owner or redis.call('ZSCORE', queue.beats, head)
        if is_stranger(head) then
            local _, beside = server.twin()
            lives = head == call.owner or (beside and redis.pcall('ZSCORE', 'rlock_beats' .. beside, head))
        end
        if lives then return end
        redis.call('LREM', queue.list, 1, head)
        redis.call('ZREM', queue.timeouts, head)
    end
end

-- The others that wait with --supersede.
local function rivals()
    local others, states = {}, redis.call('HGETALL', queue.rivals)
    for i = 1, #states, 2 do
        if states[i + 1] == 'waits' and states[i] ~= call.owner then others[#others + 1] = states[i] end
    end
    return others
end

local function named(user, host, pid)
    return ('%s@%s pid %s'):format(tostring(user), tostring(host), tostring(pid))
end

local function oust_rivals()
    for _, rival in ipairs(rivals()) do
        queue.leave(rival)
        redis.call('HSET', queue.rivals, rival, 'ousted ' .. named(ARGV[11], ARGV[9], ARGV[10]))
        server.tell(rival, '0')
    end
end

-- A later one has come, or stands where the caller lost its place. Asked again after a lost answer
-- it is still true: leaving takes the word away. Returns who it is; nil: nobody.
function queue.ousted_by()
    local by = string.match(redis.call('HGET', queue.rivals, call.owner) or '', '^ousted (.*)$')
    local placed = ARGV[15] == '' or redis.call('LPOS', queue.list, call.owner)
    if by or ARGV[14] ~= 'supersede' or placed then return by end
    local rival = rivals()[1]
    local read, known = pcall(cjson.decode, rival and redis.call('HGET', queue.queuers, rival) or '')
    return read and type(known) == 'table' and named(known.user, known.host, known.pid) or rival
end

-- The caller stands in the queue, or beats. Its score is what Redisson's would be just now: the
-- rest of the lease, and one patience for each place. us: what it says of itself. Returns its place
-- and how many wait.
function queue.stand(us)
    local at = redis.call('LPOS', queue.list, call.owner)
    if not at then
        local rival = ARGV[14] == 'supersede'
        if rival and ARGV[15] == '' then oust_rivals() end -- who comes back ousts nobody
        if rival then redis.call('HSET', queue.rivals, call.owner, 'waits') end
        at = redis.call('RPUSH', queue.list, call.owner) - 1
        redis.call('HSET', queue.queuers, call.owner, us)
    end
    local rest = math.max(redis.call('PTTL', key.lock), 0)
    redis.call('ZADD', queue.timeouts, server.now + rest + (at + 1) * queue.PATIENCE, call.owner)
    redis.call('ZADD', queue.beats, server.now, call.owner)
    settle()
    return at + 1, redis.call('LLEN', queue.list)
end

-- Wakes the head. False: there is none, or it does not listen.
function queue.wake()
    local head = queue.head()
    return head and server.tell(head, '0')
end

-- Tells the new head when the lease ends: it is there then, whoever has died. Redisson's waiters
-- take numbers only, and keep time by themselves.
function queue.tell_lease()
    local head = queue.head()
    if head and redis.call('ZSCORE', queue.beats, head) then
        server.tell(head, 'first ' .. call.lease)
    end
end
