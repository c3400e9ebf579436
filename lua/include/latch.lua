-- latch.lua: a count-down latch, Redisson's: lock is a string, the count, and gone when it is open.
-- hold: {latch: epoch ms}: when rlock set it; by this a number is known to be a latch, see latch.remember()
-- KEYS  8 permits: a semaphore's, which is a number as well, and not a latch while they are taken; plain ones
--         that rlock has taken stand in info
local latch = {KNOWN = 86400000} -- ms after rlock's last change: a Redisson client may open it, and remove nothing else

call.permits = tonumber(ARGV[4])

-- nil: open, or never set; false: the key is something else.
function latch.count()
    for _, each in ipairs({key.info, KEYS[8]}) do
        if redis.call('TYPE', each).ok ~= 'none' then return false end
    end
    return server.integer(key.lock)
end

-- A first write that is allowed when memory is out.
function latch.remember() redis.call('PEXPIRE', key.hold, latch.KNOWN) end
