-- line.lua: those who wait for one lock, of whatever kind, in the order of their coming. It gives no
-- right to the lock, but to `fair`: queue.lua.
--
-- Each waiter listens on a channel of its own; who listens is alive. The first listens on everybody's
-- too, until it has the lock or leaves: Redisson's releases speak there only. A few at the front beat,
-- that is, try again every 2 to 2.5 s, so that who stands there and is dead is known to be; all others
-- sleep until they are told. No call looks at more than A_FEW of them.
--
-- KEYS  5 waiters: zset {owner: ticket}, the ticket being larger than all before it; who has lost its
--         place by mistake comes back to it with its ticket
--       6 beats: zset {owner at the front: epoch ms by which it must be heard of, or it is dead}
local line = {
    waiters = key.waiters, beats = KEYS[6],
    A_FEW = 5, -- of them are told by one call
    DEAF_FOR = 4000, -- ms: who did not hear what it was told, or heard and did not come, is dead after that
    WOKEN = 0.5, -- behind the point of such a time
    FADES_IN = 2500, -- ms
}

-- Who hears nothing, or was woken, has a while to come, which does not begin anew with each message. One
-- that does not beat will be told to, see line.tend().
function line.expect(at, owner, woken)
    redis.call('ZADD', at.beats, 'XX', 'LT', server.now + line.DEAF_FOR + (woken and line.WOKEN or 0), owner)
end

-- Nobody in it hears: what they leave goes soon, whoever comes. One that lives comes back with its ticket.
-- Without the right to it, later.
function line.fade(...)
    for _, each in ipairs({...}) do redis.pcall('PEXPIRE', each, line.FADES_IN) end
end

-- The first `A_FEW` that hear it, until tell() says that this was enough. Returns who that was; nil: nobody,
-- and whether any heard it.
local function tell_some(at, word, tell)
    local some, heard = redis.call('ZRANGE', at.waiters, 0, line.A_FEW - 1), false
    for _, owner in ipairs(some) do
        local hears = server.tell(owner, word)
        heard = heard or hears
        if not hears then
            line.expect(at, owner)
        elseif tell(owner) then
            return owner
        end
    end
    if some[1] and not heard and #some < line.A_FEW then line.fade(at.waiters, at.beats) end
    return nil, heard
end

local function always() return true end

-- Tells the first that listens. Returns who that is.
function line.tell(at, word)
    return tell_some(at, word, always)
end

-- Wakes the first. It keeps its place, for it may lose the race; but one that was woken before and has not
-- been heard of since may stand still, and the next is woken as well. Returns who will
-- come; nil: nobody, and whether any heard it.
function line.wake(at)
    local function is_fresh(owner)
        local due = tonumber(redis.call('ZSCORE', at.beats, owner) or 0)
        line.expect(at, owner, true)
        return due % 1 ~= line.WOKEN
    end
    return tell_some(at, '0', is_fresh)
end

-- Takes these out.
function line.remove(at, ...)
    redis.call('ZREM', at.waiters, ...)
    redis.call('ZREM', at.beats, ...)
end

-- True: it was the first.
function line.leave(at, owner)
    local was_first = redis.call('ZRANK', at.waiters, owner) == 0
    line.remove(at, owner)
    return was_first
end

-- The longest that one of so many sleeps, ms: eight come in a second, however many they are.
function line.sleep(length) return math.max(5000, 125 * length) end

-- ms for which it stands: it outlives nobody's sleep.
function line.lifetime(length) return 3 * line.sleep(length) end
