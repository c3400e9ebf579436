-- waiting.lua: coming to wait, and being known to be alive there.
waiters.FRONT, waiters.BACK, waiters.AT_ONCE = 16, 4, 8
waiters.SOON, waiters.HEARTBEAT = 1, 2500 -- ms after which one comes again, at most
waiters.DEAD_AFTER = 7000 -- ms without a heartbeat; SILENCE and a heartbeat fit into it
waiters.FORGIVEN = 0.25 -- behind the point of such a time, which is sooner: FORGIVEN_FOR
waiters.FORGIVEN_FOR = 4500 -- HEARTBEAT and more
waiters.SILENCE = 3500 -- ms without any heartbeat: it was the server that was away

-- The ticket of the caller, where it stands in line.
function waiters.stands_in(at)
    at.ticket = at.ticket or tonumber(redis.call('ZSCORE', at.waiters, call.owner) or nil)
    return at.ticket
end

-- The caller's ticket, and whether it has just come to stand there. length: of the line; before: a ticket before its
-- own. An expiry is the first write: it is allowed when memory is out, and after it the others are.
function waiters.enter(at, length, before)
    redis.call('PEXPIRE', at.waiters, waiters.lifetime(length + 1))
    local ticket = waiters.stands_in(at)
    if ticket then return ticket, false end
    local last = redis.call('ZRANGE', at.waiters, '-1', '-1', 'WITHSCORES')[2]
    ticket = call.ticket or math.max(server.now_us, math.max(last or 0, before or 0) + 1)
    redis.call('ZADD', at.waiters, ticket, call.owner)
    return ticket, true
end

-- No heartbeat for so long: none could arrive, or the clock was set back. All begin anew, but none a second
-- time before it has been heard of: it may as well be dead. Returns whether any did.
local function forgive_silence(at)
    local newest = redis.call('ZRANGE', at.heartbeats, '-1', '-1', 'WITHSCORES')[2]
    local silence = newest and server.now - (newest - waiters.DEAD_AFTER) or 0
    if silence >= -1 and silence <= waiters.SILENCE then return false end
    local front = redis.call('ZRANGE', at.waiters, '0', waiters.FRONT - 1)
    local ends, heartbeats, are_new = server.now + waiters.FORGIVEN_FOR, {}, false
    if #front == 0 then return false end
    local dues = waiters.dues(at)
    for _, owner in ipairs(front) do
        local due = dues[owner]
        local forgiven = due and due % 1 == waiters.FORGIVEN and due <= ends + 1
        are_new = are_new or not forgiven
        heartbeats[#heartbeats + 1] = owner == call.owner and server.now + waiters.DEAD_AFTER
            or forgiven and due or ends + waiters.FORGIVEN
        heartbeats[#heartbeats + 1] = owner
    end
    if not are_new then return false end
    redis.call('DEL', at.heartbeats)
    redis.call('ZADD', at.heartbeats, unpack(heartbeats))
    redis.call('PEXPIRE', at.heartbeats, waiters.lifetime(0))
    return true
end

-- Returns whether there were any.
local function bury_some(at)
    local dead = redis.call('ZRANGEBYSCORE', at.heartbeats, '-inf', server.now_text, 'LIMIT', '0', waiters.A_FEW)
    if #dead == 0 then return false end
    if at.bury then at.bury(dead) end
    waiters.remove(at, unpack(dead))
    return true
end

-- Those who send heartbeats are the first in line, without a gap. Tells a few more to. Returns whether some of them
-- did not hear it, and more are wanted.
local function lengthen_front(at, watched)
    local alive = redis.call('ZCOUNT', at.heartbeats, server.now + waiters.DEAF_FOR + 1, '+inf')
    local deaf = false
    if alive >= waiters.FRONT then return false end
    local heartbeats = {}
    for _, owner in ipairs(redis.call('ZRANGE', at.waiters, watched, watched + waiters.AT_ONCE - 1)) do
        local hears = owner == call.owner or server.tell(owner, 'beat')
        deaf = deaf or not hears
        heartbeats[#heartbeats + 1] = server.now + (hears and waiters.DEAD_AFTER or waiters.DEAF_FOR)
        heartbeats[#heartbeats + 1] = owner
    end
    if #heartbeats > 0 then redis.call('ZADD', at.heartbeats, unpack(heartbeats)) end
    return deaf
end

-- What each try does for the line, unless it has put enough in order. place: the caller's; nil: it does not stand
-- there. Returns in how many ms it shall come again: soon, if there is more to do; to send a heartbeat, if it stands at
-- the front, or is one of the last, who are there should all others have died.
function waiters.tend(at, place, length)
    if call.has_cleaned or forgive_silence(at) then return waiters.SOON end
    local watched = redis.call('ZCARD', at.heartbeats)
    local is_front = place and (place <= watched or place == watched + 1 and place <= waiters.FRONT)
    if is_front then
        watched = watched + redis.call('ZADD', at.heartbeats, server.now + waiters.DEAD_AFTER, call.owner)
    end
    if bury_some(at) or watched < length and lengthen_front(at, watched) then return waiters.SOON end
    local awake = is_front or place and (place <= waiters.FRONT or place > length - waiters.BACK)
    return awake and waiters.HEARTBEAT or waiters.sleep(length)
end

-- After waiters.enter(). is_first: of the line.
function waiters.expire(at, length, is_first)
    local ms = waiters.lifetime(length)
    if is_first then redis.call('PEXPIRE', at.waiters, ms) end
    redis.call('PEXPIRE', at.heartbeats, ms)
end

-- The caller's place, or what it would be; how many wait; when it shall come again, see waiters.tend(); its ticket.
function waiters.place(at)
    local length = redis.call('ZCARD', at.waiters)
    if not call.enqueue then return length + 1, length, waiters.sleep(0), 0 end
    local ticket, is_new = waiters.enter(at, length)
    if is_new then length = length + 1 end
    local place = redis.call('ZRANK', at.waiters, call.owner) + 1
    local tended = waiters.tend(at, place, length)
    waiters.expire(at, length, is_new and length == 1)
    return place, length, tended, ticket
end

-- Who has the lock now, and may have waited: also by a request from before that, which was late.
function waiters.leave_granted(at) waiters.remove(at, call.owner) end
