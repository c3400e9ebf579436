-- sem.lua: a semaphore, Redisson's: lock is a string, the permits available; beside it
-- KEYS  8 permits: zset {permit id, 16 bytes: epoch ms at which its lease ends}
--       9 wants: hash {waiter: permits it asks for, when more than one}
-- hold: {hold id: "token owner", or "- owner" when it is left held without one,
--        owner: the same, "token hold-id permits", 'plain': how many plain ones are in use;
--        'latch': it is a latch, latch.lua}
-- Plain permits are a number alone, as of Redisson's RSemaphore: those of a killed holder never come back. A request for
-- them says so by a lease that is longer than any, for which their owner is known.
local sem = {
    permits = KEYS[8], wants = KEYS[9],
    PART = 2000, -- so many permits at once: Lua can't pass many more
    LONGEST = 604800000, -- ms: a lease
}

call.permits, call.plain = tonumber(ARGV[4]), call.lease > sem.LONGEST

-- What is known of the call's hold, and how many plain permits are in use; those that Redisson's clients
-- have taken are written nowhere. is_latch: if there is a number at all.
local hold, plain, is_latch = unpack(redis.call('HMGET', key.hold, call.id, 'plain', 'latch'))

-- nil: it was never set up, or was lost; false: the key is something else.
function sem.available()
    local text = server.typed('GET', key.lock)
    if text == nil or text and is_latch then return false end
    if not text then return nil end
    return #text <= 16 and string.find(text, '^-?%d+$') and tonumber(text) or false
end

-- nil: the call has no hold, or gave it back.
function sem.token() return string.match(hold or '', '^%d+') end

-- Never sooner than they would have ended.
function sem.expire(ms)
    local left = redis.call('PTTL', key.hold)
    if left > tonumber(ms) then ms = left end
    redis.call('PEXPIRE', key.info, ms)
    redis.call('PEXPIRE', key.hold, ms)
end

-- for from, to in sem.parts(list) do
function sem.parts(list)
    local to = 0
    return function()
        if to == #list then return nil end
        local from = to + 1
        to = math.min(to + sem.PART, #list)
        return from, to
    end
end

-- How many permits are in use, those of the dead included that nobody has collected.
function sem.in_use()
    return tonumber(plain or 0) + redis.call('ZCARD', sem.permits)
end

function sem.count_plain(number)
    plain = tonumber(plain or 0) + number
    if plain > 0 then redis.call('HSET', key.hold, 'plain', plain) else redis.call('HDEL', key.hold, 'plain') end
    return number
end
