-- latch.lua: a count-down latch, Redisson's: lock is a string, the count, and gone when it is open.
-- hold: {attempt id: epoch ms}: the set, by which status and break know a latch
-- KEYS  8 permits: a semaphore's, which is a number as well, and not a latch while they are taken; plain ones
--         that rlock has taken stand in info
local latch = {}

call.permits = tonumber(ARGV[4])

-- nil: open, or never set; false: the key is something else.
function latch.count()
    for _, each in ipairs({key.info, KEYS[8]}) do
        if redis.call('TYPE', each).ok ~= 'none' then return false end
    end
    return server.integer(key.lock)
end
