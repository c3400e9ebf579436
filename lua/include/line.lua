-- line.lua: the line of waiters: who waits, woken one at a time. It gives no right to the lock.
-- Each waiter listens on a channel of its own, the first on everybody's too.
local line = {TTL = 15000} -- three caps of a waiter's sleep: it outlives no waiter by more

-- Tells the first; one that hears nothing is dead and loses its place. Returns who has heard it.
function line.tell(waiters, message)
    while true do
        local first = redis.call('ZRANGE', waiters, 0, 0)[1]
        if not first or server.tell(first, message) then return first end
        redis.call('ZREM', waiters, first)
    end
end

-- Wakes one, who goes to the end of the line: if it is stopped, or loses the race, the next release
-- wakes another. When it takes the lock it leaves the line.
function line.wake(waiters)
    local first = line.tell(waiters, '0')
    if first then redis.pcall('ZADD', waiters, 'XX', server.now, first) end
end

-- True: it was the first.
function line.leave(waiters, owner)
    local was_first = redis.call('ZRANK', waiters, owner) == 0
    redis.call('ZREM', waiters, owner)
    return was_first
end

-- Who is about to stand in it is asked for all rights: it must not wait for what it may not take.
function line.refusal(waiters, rights)
    if ARGV[8] == '1' and not redis.call('ZRANK', waiters, call.owner) then
        return server.denies_any(rights())
    end
end

-- The caller's place, or what it would be, and how many wait.
function line.place(waiters)
    if ARGV[8] ~= '1' then
        local length = redis.call('ZCARD', waiters)
        return length + 1, length
    end
    redis.pcall('ZADD', waiters, 'NX', server.now, call.owner) -- out of memory: no place, but still an answer
    redis.call('PEXPIRE', waiters, line.TTL)
    return (redis.call('ZRANK', waiters, call.owner) or -1) + 1, redis.call('ZCARD', waiters)
end
