-- sem_take.lua: how permits are taken, leased or plain.

-- waiters.tend() has found them dead.
function waiters.bury(dead) redis.call('HDEL', sem.wants, unpack(dead)) end

local function refuse(why, ...) return nil, {REFUSED, 0, 0, string.format(why, ...)} end

local function permits(number) return number .. (number == 1 and ' permit' or ' permits') end

-- Whether all agree on how many there are. A waiter may have come before it was resized; it waits in vain only for
-- more than there are. Where plain ones are used Redisson's clients may have taken more than is known.
local function agree(available)
    local total, expected = available + sem.in_use(), not call.came_back and call.permits_total
    if expected and expected ~= total and not (call.plain and expected > total) then
        return refuse('it has %s, not %d: all users agree on --permits, and --resize changes it',
            permits(total), expected)
    end
    if call.permits > total and not call.plain then
        return refuse('it has %s, and --take asks for %d', permits(total), call.permits)
    end
    return available
end

-- Sets the semaphore up where it is missing, or what was taken is: it has one permit at least. Returns how many are
-- available, or nil and the answer.
function sem.set_up(available)
    if available and (call.plain or available + sem.in_use() > 0) then return agree(available) end
    local total = call.permits_total
    if not total then return refuse('it does not exist yet: say with --permits how many there are') end
    return sem.set(total - sem.in_use())
end

-- Whether they may be taken now: they are there, and nobody else has its turn.
function sem.fits(available)
    if available < call.permits then return false end
    local first = redis.call('ZRANGE', key.waiters, '0', '0', 'WITHSCORES')
    return not first[1] or first[1] == call.owner or not sem.has_turn(first[1], first[2])
end

-- The caller's place; what it wants is noted where that is more than one.
local function place()
    local at, waiting, again_ms, ticket = waiters.place(waiters)
    if call.enqueue and call.permits > 1 then
        redis.pcall('HSET', sem.wants, call.owner, call.permits)
        redis.call('PEXPIRE', sem.wants, waiters.lifetime(waiting))
    end
    return at, waiting, again_ms, ticket
end

-- hint: ms until a permit may come back by itself, or -1. The holder that is shown is any of them.
function sem.busy(hint)
    if call.came_back then sem.wake(1) end -- a waiter that asks for less, or that missed its message
    return acquire.busy(redis.call('HSCAN', key.info, '0', 'COUNT', '10')[2][1] or '', hint, place())
end
