-- front.lua: the waiters at the front of a line, of which each is known to be alive or dead.
-- Of a line front: hash {owner: "STATE SINCE", epoch ms}. One that is in a state for longer than its limit is dead.
-- States: beats: it was heard of then, or told to come; woken: it was told that it may have the lock; deaf: it did not
-- hear what it was told, or none was heard of for a while
local front = {
    LIMITS = {beats = 7000, woken = 4000, deaf = 4000}, -- ms
    SILENCE = 3500, -- ms without any heartbeat: it was the server that was away
}

function front.known(state, since) return {state = state, since = since, due = since + front.LIMITS[state]} end

-- {owner: {state, since and due: epoch ms}}: a few only.
function front.of(line)
    if line.at_front then return line.at_front end
    local entries = redis.call('HGETALL', line.front)
    line.at_front = {}
    for i = 1, #entries, 2 do
        local state, since = string.match(entries[i + 1], '^(%l+) (%d+)$')
        if front.LIMITS[state or ''] then line.at_front[entries[i]] = front.known(state, tonumber(since)) end
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
