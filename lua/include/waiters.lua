-- waiters.lua: those who wait for one lock, of whatever kind, in the order of their coming. It gives no
-- right to the lock, but to `fair`: queue.lua.
--
-- Each waiter listens on a channel of its own; one that listens is alive. The first listens on everybody's
-- too, until it has the lock or leaves: Redisson's releases publish only there. A few at the front send
-- heartbeats, that is, try again every 2 to 2.5 s, so that the dead among them are known to be; all others
-- sleep until they get a message. No call looks at more than A_FEW of them.
--
-- KEYS  5 waiters: zset {owner: ticket}, the ticket being larger than all before it; who has lost its
--         place by mistake comes back to it with its ticket
--       6 heartbeats: zset {owner at the front: epoch ms by which it must be heard of, or it is dead}
local waiters = {
    waiters = key.waiters, heartbeats = KEYS[6],
    A_FEW = 5, -- so many get a message from one call
    DEAF_FOR = 4000, -- ms: who did not hear what it was told, or heard and did not come, is dead after that
    WOKEN = 0.5, -- behind the point of such a time
    FADES_IN = 2500, -- ms
}

-- When each at the front is dead unless it is heard of, {owner: epoch ms}: a few only.
function waiters.dues(at)
    local front, dues = redis.call('ZRANGE', at.heartbeats, '0', '-1', 'WITHSCORES'), {}
    for i = 1, #front, 2 do dues[front[i]] = tonumber(front[i + 1]) end
    return dues
end

-- These, {owner: whether it was woken}, were told something. One that hears nothing, or was woken, has a while to come,
-- which does not begin anew with each message. One that sends no heartbeats will be told to, see waiters.tend().
function waiters.expect(at, told, dues)
    local changed = {}
    for owner, woken in pairs(told) do
        local due = server.now + waiters.DEAF_FOR + (woken and waiters.WOKEN or 0)
        if dues[owner] and due < dues[owner] then
            changed[#changed + 1] = due
            changed[#changed + 1] = owner
        end
    end
    if #changed > 0 then redis.call('ZADD', at.heartbeats, unpack(changed)) end
end

-- Nobody in it hears: what they leave goes soon, whoever comes. One that lives comes back with its ticket.
-- Without the right to it, later.
function waiters.fade(...)
    for _, each in ipairs({...}) do redis.pcall('PEXPIRE', each, waiters.FADES_IN) end
end

-- Tells the first of a few that hears it; wakes: and has not been woken before, see waiters.wake(). Returns who that
-- is; nil: nobody, whether any heard it, and whether there are more.
local function tell_some(at, word, wakes)
    local some, told, first, heard = redis.call('ZRANGE', at.waiters, '0', waiters.A_FEW), {}, nil, false
    if not some[1] then return nil, false, false end
    local dues = waiters.dues(at)
    for i = 1, math.min(#some, waiters.A_FEW) do
        local owner = some[i]
        local hears = server.tell(owner, word)
        heard = heard or hears
        if wakes or not hears then told[owner] = hears end
        first = hears and (not wakes or (dues[owner] or 0) % 1 ~= waiters.WOKEN) and owner
        if first then break end
    end
    waiters.expect(at, told, dues)
    local are_more = #some > waiters.A_FEW
    if not heard and not are_more then waiters.fade(at.waiters, at.heartbeats) end
    return first or nil, heard, are_more
end

-- Tells the first that listens. Returns who that is; nil: nobody.
function waiters.tell(at, word)
    return tell_some(at, word, false)
end

-- Wakes the first. It keeps its place, for it may lose the race; but one that was woken before and has not
-- been heard of since may stand still, and the next is woken as well. Returns who will
-- come; nil: nobody, whether any heard it, and whether there are more than were told.
function waiters.wake(at)
    return tell_some(at, '0', true)
end

-- Takes these out.
function waiters.remove(at, ...)
    redis.call('ZREM', at.waiters, ...)
    redis.call('ZREM', at.heartbeats, ...)
end

-- True: it was the first.
function waiters.leave(at, owner)
    local was_first = redis.call('ZRANK', at.waiters, owner) == 0
    waiters.remove(at, owner)
    return was_first
end

-- The longest that one of so many sleeps, ms: eight come in a second, however many they are.
function waiters.sleep(length) return math.max(5000, 125 * length) end

-- ms for which it stands: it outlives nobody's sleep.
function waiters.lifetime(length) return 3 * waiters.sleep(length) end
