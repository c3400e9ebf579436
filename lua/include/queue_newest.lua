-- queue_newest.lua: the newest of the waiters with --supersede, and those whose place it took: queue.lua.

-- The last that came with --supersede; nil: none.
function queue.newest()
    queue.known = queue.known or redis.call('HGET', key.shown, '') or ''
    local ticket, waited, left, owner, name = string.match(queue.known, '^(-?%d+) (%d+) (%-?)(%S+) (.*)$')
    return ticket and {
        ticket = tonumber(ticket), waited = tonumber(waited), has_left = left == '-', owner = owner, name = name,
    }
end

function queue.note_newest(it)
    queue.known = ('%.0f %.0f %s%s %s'):format(it.ticket, it.waited, it.has_left and '-' or '', it.owner, it.name)
    redis.call('HSET', key.shown, '', queue.known)
end

-- Those that have lost their places and not left yet: an owner or false each.
function queue.ousted()
    queue.away = queue.away or redis.call('HMGET', key.shown, '>1', '>2', '>3')
    return queue.away
end

local function find(owners, owner)
    for i, each in ipairs(owners) do
        if each == owner then return i end
    end
end

function queue.is_ousted(owner) return find(queue.ousted(), owner) ~= nil end

-- Of more than three that died one is forgotten.
function queue.note_ousted(owner)
    local at = find(queue.ousted(), owner) or find(queue.away, false) or server.now % 3 + 1
    queue.away[at] = owner
    redis.call('HSET', key.shown, '>' .. at, owner)
end

-- These have left. What is said of the newest stays until those whose place was taken have left, too.
function queue.forget(...)
    redis.call('ZREM', queue.timeouts, ...)
    local newest = queue.newest()
    if not newest then return end
    local had_left, away = newest.has_left, queue.ousted()
    for _, owner in ipairs({...}) do
        newest.has_left = newest.has_left or owner == newest.owner
        local at = find(away, owner)
        if at then
            away[at] = false
            redis.call('HDEL', key.shown, '>' .. at)
        end
    end
    if newest.has_left and not (away[1] or away[2] or away[3]) then
        redis.call('HDEL', key.shown, '')
        queue.known = nil
    elseif newest.has_left ~= had_left then
        queue.note_newest(newest)
    end
end
