-- line_wait.lua: standing in a line.
line.FRONT, line.BACK, line.AT_ONCE = 16, 4, 8
line.SOON, line.BEAT = 2, 2500 -- ms after which one comes again, at most
line.DEAD_AFTER = 7000 -- ms without a beat; SILENCE and a beat fit into it
line.FORGIVEN, line.FORGIVEN_FOR = 0.25, 4500 -- behind the point of such a time, which is sooner: BEAT and more
line.SILENCE = 3500 -- ms: nobody has beaten for so long: it was the server that was away

-- The ticket of the caller, where it stands in line.
function line.stands_in(at)
    at.ticket = at.ticket or tonumber(redis.call('ZSCORE', at.waiters, call.owner) or nil)
    return at.ticket
end

-- Who is about to stand in it is asked for all rights: it must not wait for what it may not take.
function line.refusal(at, rights)
    if call.enqueue and not line.stands_in(at) then return server.denies_any(rights()) end
end

-- The caller's ticket, and whether it has just come to stand there. Out of memory: no place, but still an answer.
function line.enter(at)
    local ticket = line.stands_in(at)
    if ticket then return ticket, false end
    local last = redis.call('ZRANGE', at.waiters, -1, -1, 'WITHSCORES')[2]
    ticket = call.ticket or math.max(server.now_us, last and last + 1 or 0)
    redis.pcall('ZADD', at.waiters, ticket, call.owner)
    return ticket, true
end

-- While nobody beat, nobody could; or the clock was set back. All begin anew, but none a second time before it
-- has been heard of: it may as well be dead.
local function forgive_silence(at)
    local newest = redis.call('ZRANGE', at.beats, -1, -1, 'WITHSCORES')[2]
    local silence = newest and server.now - (newest - line.DEAD_AFTER) or 0
    if silence >= -1 and silence <= line.SILENCE or server.denies('PEXPIRE', '') then return end
    local front, ends, beats = redis.call('ZRANGE', at.waiters, 0, line.FRONT - 1), server.now + line.FORGIVEN_FOR, {}
    if #front == 0 then return end
    local before = redis.call('ZMSCORE', at.beats, unpack(front))
    for i, owner in ipairs(front) do
        local due = tonumber(before[i] or nil)
        local forgiven = due and due % 1 == line.FORGIVEN and due <= ends + 1
        beats[#beats + 1] = forgiven and due or ends + line.FORGIVEN
        beats[#beats + 1] = owner
    end
    redis.call('DEL', at.beats)
    redis.call('ZADD', at.beats, unpack(beats))
    redis.call('PEXPIRE', at.beats, line.lifetime(0))
end

-- Returns whether there were any.
local function bury_some(at)
    local dead = redis.call('ZRANGEBYSCORE', at.beats, '-inf', server.now, 'LIMIT', 0, line.A_FEW)
    if #dead == 0 then return false end
    if at.bury then at.bury(dead) end
    line.remove(at, unpack(dead))
    return true
end

-- Those who beat are the first in line, without a gap. Tells a few more to. Returns whether some of them
-- did not hear it, and more are wanted.
local function lengthen_front(at, watched)
    local beating = redis.call('ZCOUNT', at.beats, server.now + line.DEAF_FOR + 1, '+inf')
    local deaf = false
    if beating >= line.FRONT then return false end
    local beats = {}
    for _, owner in ipairs(redis.call('ZRANGE', at.waiters, watched, watched + line.AT_ONCE - 1)) do
        local hears = owner == call.owner or server.tell(owner, 'beat')
        deaf = deaf or not hears
        beats[#beats + 1] = server.now + (hears and line.DEAD_AFTER or line.DEAF_FOR)
        beats[#beats + 1] = owner
    end
    if #beats > 0 then redis.call('ZADD', at.beats, unpack(beats)) end
    return deaf
end

-- What each try does for the line. place: the caller's; nil: it does not stand there. Returns in how many
-- ms it shall come again: soon, if there is more to do; to beat, if it stands at the front, or is one of
-- the last, who are there should all others have died.
function line.tend(at, place, length)
    forgive_silence(at)
    local watched = redis.call('ZCARD', at.beats)
    local beats = place and (place <= watched or place == watched + 1 and place <= line.FRONT)
    if beats then watched = watched + redis.call('ZADD', at.beats, server.now + line.DEAD_AFTER, call.owner) end
    if bury_some(at) or watched < length and lengthen_front(at, watched) then return line.SOON end
    local awake = beats or place and (place <= line.FRONT or place > length - line.BACK)
    return awake and line.BEAT or line.sleep(length)
end

function line.expire(at, length)
    local ms = line.lifetime(length)
    redis.call('PEXPIRE', at.waiters, ms)
    redis.call('PEXPIRE', at.beats, ms)
end

-- The caller's place, or what it would be; how many wait; when it shall come again, see line.tend(); its ticket.
function line.place(at)
    if not call.enqueue then
        local length = redis.call('ZCARD', at.waiters)
        return length + 1, length, line.sleep(0), 0
    end
    local ticket = line.enter(at)
    local place, length = (redis.call('ZRANK', at.waiters, call.owner) or -1) + 1, redis.call('ZCARD', at.waiters)
    local tended = line.tend(at, place, length)
    line.expire(at, length)
    return place, length, tended, ticket
end

-- Whether the caller may stand in a line.
function line.may_stand() return call.enqueue or call.ticket end

-- Who has the lock now, and may have waited.
function line.leave_granted(at)
    if line.may_stand() then line.remove(at, call.owner) end
end
