-- front.lua: the waiters at the front of a line, of which each is known to be alive or dead.
-- Of a line front: hash {owner: "STATE SINCE", epoch ms}. One that is in a state for longer than its limit is dead.
-- States: beats: it was heard of then, or told to come; woken: it was told that it may have the lock; deaf: it did not
-- hear what it was told, or none was heard of for a while
local front = {
    NEAR = 32, -- of so many at either end a script knows the states: more than send heartbeats, but for the dead
    LIMITS = {beats = 7000, woken = 4000, deaf = 4000}, -- ms
    SILENCE = 3500, -- ms without any heartbeat: it was the server that was away
}

function front.known(state, since) return {state = state, since = since, due = since + front.LIMITS[state]} end

-- Reads the states of these into line.at_front: {owner: {state, since and due: epoch ms}}. Returns how many have one.
function front.read(line, owners)
    local number = 0
    for i, text in ipairs(owners[1] and redis.call('HMGET', line.front, unpack(owners)) or {}) do
        local state, since = string.match(text or '', '^(%l+) (%d+)$')
        if front.LIMITS[state or ''] then
            line.at_front[owners[i]] = front.known(state, tonumber(since))
            number = number + 1
        end
    end
    return number
end

-- line.at_front of the first and of the last at the front, and of the caller. Those between them become the first.
-- line.watched: how many are at the front: the first in line without a gap.
function front.of(line)
    if line.at_front then return line.at_front end
    line.at_front = {}
    line.watched = front.read(line, redis.call('ZRANGE', line.waiters, '0', front.NEAR - 1))
    if line.watched >= front.NEAR - 1 then -- the caller may just have come to stand among them
        line.watched = redis.call('HLEN', line.front)
        local from = math.max(front.NEAR, line.watched - front.NEAR)
        local last = redis.call('ZRANGE', line.waiters, from, line.watched - 1)
        last[#last + 1] = call.owner
        front.read(line, last)
    end
    return line.at_front
end

-- Whether none was heard of for so long that none could be, or the clock was set back.
function front.is_silent(line)
    local newest
    for _, known in pairs(front.of(line)) do newest = math.max(newest or 0, known.since) end
    local silence = server.now - (newest or server.now)
    return silence < -1 or silence > front.SILENCE
end
