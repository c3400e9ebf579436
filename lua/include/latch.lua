-- latch.lua: a count-down latch, Redisson's: lock is a string, the count, and gone when it is open.
-- hold: {attempt id: epoch ms}: the set, by which status and break know a latch, and the count-downs of the last
--       minute, and some that nobody has looked at since.
-- KEYS  7 permits: a semaphore's, which is a number as well, and not a latch while they are taken; plain ones
--         that rlock has taken stand in info
local latch = {REMEMBER = 60000}

call.permits = tonumber(ARGV[4])

-- nil: open, or never set; false: the key is something else.
function latch.count()
    for _, each in ipairs({key.info, KEYS[7]}) do
        if redis.call('TYPE', each).ok ~= 'none' then return false end
    end
    return server.integer(key.lock)
end

-- True: this very attempt has been carried out; its answer was lost, or the replicas did not have it.
-- Something is written, so that they have all that was written before when they have this.
function latch.done_before()
    local done = redis.call('HGET', key.hold, call.id) ~= false
    if done then redis.call('PEXPIRE', key.hold, latch.REMEMBER) end
    return done
end

-- Before the change: what can't be remembered is not done.
function latch.remember()
    redis.call('HSET', key.hold, call.id, server.now_text)
    redis.call('PEXPIRE', key.hold, latch.REMEMBER)
end

-- It is open, and an attempt before this one may have opened it: for the replicas to have that they must have
-- something that was written after it. Nothing is left.
function latch.leave_word()
    redis.call('DEL', key.hold) -- the first write: allowed when memory is out
    redis.call('HSET', key.hold, call.id, server.now)
    redis.call('DEL', key.hold)
end

-- Looks at more of them than one comes with, whichever: so those that are too old are never many.
function latch.forget_some()
    local some = redis.call('HRANDFIELD', key.hold, '4', 'WITHVALUES')
    for i = 1, #some, 2 do
        if tonumber(some[i + 1]) < server.now - latch.REMEMBER then redis.call('HDEL', key.hold, some[i]) end
    end
end
