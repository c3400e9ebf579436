-- waiters.lua: the waiters for one lock, of whatever kind, in the order of their coming. It gives no
-- right to the lock, but to `fair`: queue.lua.
--
-- Each waiter listens on a channel of its own; one that listens is alive. The first listens on everybody's
-- too, until it has the lock or leaves: Redisson's releases publish only there. A few at the front send
-- heartbeats, that is, try again every 2 to 2.5 s, so that the dead among them are known to be; all others
-- sleep until they get a message.
--
-- KEYS  5 waiters: zset {owner: ticket}, the epoch ms at which it came, and larger than all before it (of `fair`:
--         tickets.lua); a waiter that lost its place by mistake comes back to it with its ticket
--       6 front: front.lua  7 shown: hash {waiter: JSON, what `status` shows}, of all lines of the name
local waiters = {
    waiters = key.waiters, front = KEYS[6],
    FRONT = 16, -- so many at the front send heartbeats, and the last A_FEW, which live on should all others have died
    A_FEW = 5, -- so many get a message from one call, or are taken out
    HEARTBEAT = 2500, SOON = 1, -- ms after which one comes again, at most
}

-- These, {owner: state}, are in that state from now on.
function waiters.note(at, states)
    local known, changed = front.of(at), {}
    for owner, state in pairs(states) do
        known[owner] = front.known(state, server.now)
        changed[#changed + 1] = owner
        changed[#changed + 1] = state .. ' ' .. server.now_text
    end
    if #changed > 0 then at.watched = at.watched + redis.call('HSET', at.front, unpack(changed)) end
end

-- These, {owner: whether it heard}, were told that they may have it, or did not hear what they were told. They have a
-- while to come, which does not begin anew with each message. One that sends no heartbeats will be told to, see
-- waiters.tend().
function waiters.expect(at, told)
    local states = {}
    for owner, heard in pairs(told) do
        local state = heard and 'woken' or 'deaf'
        local known = front.of(at)[owner]
        if known and server.now + front.LIMITS[state] < known.due then states[owner] = state end
    end
    waiters.note(at, states)
end

function waiters.is_woken(at, owner)
    local known = front.of(at)[owner]
    return known and known.state == 'woken'
end

-- Tells the first of a few that hears it; wakes: and has not been woken before. Returns whether any heard it.
local function tell_some(at, word, wakes)
    local told, heard = {}, false
    for _, owner in ipairs(redis.call('ZRANGE', at.waiters, '0', waiters.A_FEW - 1)) do
        local hears = server.tell(owner, word)
        heard = heard or hears
        if wakes or not hears then told[owner] = hears end
        if hears and not (wakes and waiters.is_woken(at, owner)) then break end
    end
    waiters.expect(at, told)
    return heard
end

-- Tells the first that listens.
function waiters.tell(at, word) return tell_some(at, word, false) end

-- Wakes the first. It keeps its place, for it may lose the race; but one that was woken before and has not
-- been heard of since may stand still, and the next is woken as well.
function waiters.wake(at) return tell_some(at, '0', true) end

-- Takes these out.
function waiters.remove(at, ...)
    redis.call('ZREM', at.waiters, ...)
    local gone = redis.call('HDEL', at.front, ...)
    redis.call('HDEL', key.shown, ...)
    if not at.at_front then return end
    at.watched = at.watched - gone
    for _, owner in ipairs({...}) do at.at_front[owner] = nil end
end

-- True: it was the first.
function waiters.leave(at, owner)
    local was_first = redis.call('ZRANK', at.waiters, owner) == 0
    waiters.remove(at, owner)
    return was_first
end

-- The longest that one of so many sleeps, ms: eight come in a second, however many they are.
function waiters.sleep(length) return math.max(2 * waiters.HEARTBEAT, 125 * length) end

-- ms for which it stands: it outlives nobody's sleep.
function waiters.lifetime(length) return 3 * waiters.sleep(length) end
