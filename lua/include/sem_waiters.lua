-- sem_waiters.lua: the waiters for permits, and which comes next. One whose request fits may overtake those before
-- it, but not for ever: one that asks for several has its turn when it has been first for long.
local PATIENCE = 5000 -- ms for which one is overtaken
local ALIVE = 3500 -- ms that are left until a waiter counts as dead that was heard of or is just coming
local COMING = 100 -- ms in which one that was woken comes

-- Whether the first in line, which came at that epoch ms, alone may take what there is. What plain ones
-- Redisson's clients have, or the dead, is not known, and may never come back: there the turn ends, too.
function sem.has_turn(first, came)
    local waited = server.now - came
    if waited < PATIENCE or call.plain and waited % (2 * PATIENCE) < PATIENCE then return false end
    local wants = tonumber(redis.call('HGET', sem.wants, first) or nil)
    local known = front.of(waiters)[first]
    return wants and known and known.due - server.now > ALIVE and wants <= sem.available() + sem.in_use()
end

-- So many are available now, whatever was there before. Returns that.
function sem.set(available)
    redis.call('SET', key.lock, available)
    if is_latch then redis.call('HDEL', key.hold, 'latch') end -- which is open
    is_latch = nil
    server.tell_all(available)
    return available
end

-- So many come back, and all are told. Returns how many are available; nil: it was lost.
function sem.give(number)
    local available = sem.available()
    if number == 0 or not available then return available end
    server.tell_all(redis.call('INCRBY', key.lock, number))
    return available + number
end

-- ms until the next lease ends, and a permit comes back by itself; -1: none has a lease.
function sem.next_end()
    local ends = redis.call('ZRANGE', sem.permits, '0', '0', 'WITHSCORES')[2]
    return ends and math.max(ends - server.now, 0) or -1
end

-- Wakes the first whose request fits into what is available, `most` of them. Each that comes wakes the next; one that
-- was woken before and has not come may stand still, and is not waited for.
function sem.wake(most)
    local first = redis.call('ZRANGE', key.waiters, '0', waiters.FRONT - 1, 'WITHSCORES')
    local rest = first[1] and sem.available() or 0
    if rest <= 0 then return end
    local owners, told, number_told = {}, {}, 0
    for i = 1, #first, 2 do owners[#owners + 1] = first[i] end
    local wants = redis.call('HMGET', sem.wants, unpack(owners))
    if wants[1] and sem.has_turn(first[1], first[2]) then owners = {first[1]} end
    for i, owner in ipairs(owners) do
        local number = tonumber(wants[i] or 1)
        local fits = number <= rest and number_told < most
        if fits and not waiters.is_woken(waiters, owner) then
            local hears = server.tell(owner, '0')
            told[owner] = hears
            number_told = number_told + 1
            rest = rest - (hears and number or 0)
        elseif fits and server.now - front.of(waiters)[owner].since < COMING then
            rest = rest - number
        end
    end
    waiters.expect(waiters, told)
end

-- Takes one out of the line, if it is there, and wakes those that come next. The first is there when the next lease ends,
-- and hears Redisson's releases.
function sem.pass_on(waiter)
    if redis.call('ZCARD', key.waiters) == 0 then return end
    redis.call('HDEL', sem.wants, waiter)
    if waiters.leave(waiters, waiter) then
        local ms = sem.next_end()
        waiters.tell(waiters, 'first ' .. (ms < 0 and waiters.lifetime(0) or ms))
    end
    sem.wake(waiters.A_FEW)
end
