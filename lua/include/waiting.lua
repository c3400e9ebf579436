-- waiting.lua: coming to wait, and being known to be alive there.

-- The ticket of the caller, where it stands in line.
function waiters.stands_in(at)
    if at.ticket == nil then at.ticket = tonumber(redis.call('ZSCORE', at.waiters, call.owner) or nil) or false end
    return at.ticket
end

-- The caller's ticket, and whether it has just come to stand there. length: of the line; next_ticket(): of another
-- kind than one more than the last. An expiry is the first write: it is allowed when memory is out, and after it the
-- others are.
function waiters.enter(at, length, next_ticket)
    local ms = waiters.lifetime(length + 1)
    redis.call('PEXPIRE', at.waiters, ms)
    local ticket = waiters.stands_in(at)
    if ticket then return ticket, false end
    local last = redis.call('ZRANGE', at.waiters, '-1', '-1', 'WITHSCORES')
    at.last, at.last_ticket = last[1], tonumber(last[2])
    ticket = call.ticket or next_ticket and next_ticket() or math.max(server.now, (at.last_ticket or 0) + 1)
    redis.call('ZADD', at.waiters, ticket, call.owner)
    if not at.last then redis.call('PEXPIRE', at.waiters, ms) end
    return ticket, true
end

-- After a silence each has a while to come, but none a second time before it has come: it may as well be dead. What was
-- noted before the clock was set back says nothing.
local function doubt_all(at)
    local states = {}
    for owner, known in pairs(front.of(at)) do
        if known.state ~= 'deaf' or known.since > server.now + 1 then states[owner] = 'deaf' end
    end
    waiters.note(at, states)
end

-- Returns whether there were any.
local function bury_some(at)
    local dead = {}
    for owner, known in pairs(front.of(at)) do
        if known.due <= server.now and #dead < waiters.A_FEW then dead[#dead + 1] = owner end
    end
    if #dead == 0 then return false end
    if at.bury then at.bury(dead) end
    waiters.remove(at, unpack(dead))
    return true
end

-- How many of those that are known at the front have time left.
local function count_alive(at)
    local alive = 0
    for _, known in pairs(front.of(at)) do
        if known.due > server.now + front.LIMITS.deaf then alive = alive + 1 end
    end
    return alive
end

-- The waiters that send heartbeats are the first in line, without a gap. Tells a few more to. Returns whether some of them
-- did not hear it, and more are wanted.
local function lengthen_front(at)
    if count_alive(at) >= waiters.FRONT then return false end
    local states, deaf = {}, false
    for _, owner in ipairs(redis.call('ZRANGE', at.waiters, at.watched, at.watched + waiters.A_FEW - 1)) do
        local hears = owner == call.owner or server.tell(owner, 'beat')
        deaf = deaf or not hears
        states[owner] = hears and 'beats' or 'deaf'
    end
    waiters.note(at, states)
    return deaf
end

-- Others have come to stand before them: the last of them sleep again, where there are many more than needed.
local function shorten_front(at)
    if count_alive(at) <= waiters.FRONT + waiters.A_FEW then return end
    local last = redis.call('ZRANGE', at.waiters, at.watched - waiters.A_FEW, at.watched - 1)
    at.watched = at.watched - redis.call('HDEL', at.front, unpack(last))
    for _, owner in ipairs(last) do at.at_front[owner] = nil end
end

-- What each try does for the line, unless it has put enough in order. place: the caller's; nil: it does not stand
-- there. Returns in how many ms it shall come again: soon, if there is more to do; to send a heartbeat, if it stands at
-- the front, or is one of the last. One that has come to stand before others may stand among those at the front, and must
-- be known there as they are: it may die at once.
function waiters.tend(at, place, length)
    if call.has_cleaned and not call.overtakes then return waiters.SOON end
    if front.is_silent(at) then doubt_all(at) end
    local is_front = place and (place <= at.watched or place == at.watched + 1 and place <= waiters.FRONT)
    if is_front then waiters.note(at, {[call.owner] = 'beats'}) end
    shorten_front(at)
    if call.has_cleaned or bury_some(at) or at.watched < length and lengthen_front(at) then return waiters.SOON end
    local awake = is_front or place and (place <= waiters.FRONT or place > length - waiters.A_FEW)
    return awake and waiters.HEARTBEAT or waiters.sleep(length)
end

-- After waiters.enter(). is_new: it has just come; shown_ms: for how long what is shown stands, if not as the line. It may
-- have expired with a shorter line of the name.
function waiters.expire(at, length, is_new, shown_ms)
    local ms = waiters.lifetime(length)
    redis.call('PEXPIRE', at.front, ms)
    if not is_new and redis.call('PEXPIRE', key.shown, shown_ms or ms) == 1 then return end
    redis.call('HSET', key.shown, call.owner, call.us())
    redis.call('PEXPIRE', key.shown, shown_ms or ms)
end

-- The caller's place, or what it would be; how many wait; when it shall come again, see waiters.tend(); its ticket.
function waiters.place(at)
    local length = redis.call('ZCARD', at.waiters)
    if not call.enqueue then return length + 1, length, waiters.sleep(0), 0 end
    local ticket, is_new = waiters.enter(at, length)
    if is_new then length = length + 1 end
    local place = redis.call('ZRANK', at.waiters, call.owner) + 1
    local tended = waiters.tend(at, place, length)
    waiters.expire(at, length, is_new)
    return place, length, tended, ticket
end
