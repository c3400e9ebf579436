-- latch.lua: a count-down latch, Redisson's: lock is a string, the count, and gone when it is open.
-- hold: {attempt id: epoch ms}: the attempts of the last minute, and some that nobody has looked at since.
-- KEYS  7 permits: a semaphore's, which is a number as well, and not a latch while they are taken; plain ones
--         that rlock has taken stand in info
local latch = {REMEMBER = 60000}

call.permits = tonumber(ARGV[4])

-- nil: open, or never set; false: the key is something else. x and {x} have one set of permits: see sem.lua.
function latch.count()
    if redis.call('TYPE', key.info).ok ~= 'none' then return false end
    local permits = redis.call('TYPE', KEYS[7]).ok
    local twin = permits ~= 'none' and server.twin()
    if permits ~= 'none' and not (twin and server.has(twin)) then return false end
    return server.integer(key.lock)
end

-- True: this very attempt has been carried out; its answer was lost.
function latch.done_before()
    return redis.call('HGET', key.hold, call.id) ~= false
end

-- Before the change: what can't be remembered is not done.
function latch.remember()
    redis.call('HSET', key.hold, call.id, server.now)
    redis.call('PEXPIRE', key.hold, latch.REMEMBER)
end

-- Looks at more of them than one comes with, whichever: so those that are too old are never many.
function latch.forget_some()
    local some = redis.call('HRANDFIELD', key.hold, 4, 'WITHVALUES')
    for i = 1, #some, 2 do
        if tonumber(some[i + 1]) < server.now - latch.REMEMBER then redis.call('HDEL', key.hold, some[i]) end
    end
end
