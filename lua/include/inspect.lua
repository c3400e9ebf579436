-- inspect.lua: what the views of all kinds are made of. Nothing here writes, and what the dead left
-- counts as not there.
--
-- KEYS  7 list  8 timeouts  9 waiters  10 heartbeats: of `fair`  11 marker  12 waiters  13 heartbeats: of `write`
--       14 permits: a semaphore's  15 queuers: of `fair`
--       16 leases: inspect_kinds.lua  17 record: once.lua
local inspect = {
    list = KEYS[7], timeouts = KEYS[8], marker = KEYS[11], permits = KEYS[14], queuers = KEYS[15],
    waiters = {waiters = key.waiters, heartbeats = KEYS[6]},
    queue = {waiters = KEYS[9], heartbeats = KEYS[10]},
    writers = {waiters = KEYS[12], heartbeats = KEYS[13]},
    DEAD_AFTER = 7000, SILENCE = 3500, -- see waiters.lua
}
local view = {kind = '', total = -1, count = -1, holders = {}, waiters = {}}

-- Whatever a stranger has put there: a whole number that C can read, -1 for none.
function inspect.number(value)
    local number = tonumber(value)
    return number and number >= 0 and number < 2 ^ 53 and math.floor(number) or -1
end

local function text(value) return type(value) == 'string' and value or '' end

-- A hash as a table.
function inspect.hash(name)
    local fields, all = redis.call('HGETALL', name), {}
    for i = 1, #fields, 2 do all[fields[i]] = fields[i + 1] end
    return all
end

local function decode(json)
    local read, known = pcall(cjson.decode, json or '')
    return read and type(known) == 'table' and known or {}
end

local infos
-- What its rlock has said of it.
function inspect.known(owner)
    infos = infos or inspect.hash(key.info)
    return decode(infos[owner])
end

-- As digits; '': it has none, or it is none that we know.
function inspect.token_of(owner, token)
    return string.match(token or server.token_in(infos[owner]) or '', '^%d+$') or ''
end

-- hold: {ttl, holds, token: digits or nil, permits, writes}
function inspect.add_holder(owner, hold)
    local known = inspect.known(owner)
    view.holders[#view.holders + 1] = {owner, text(known.host), inspect.number(known.pid), text(known.user),
        text(known.command), inspect.number(known.since), hold.ttl, hold.holds,
        inspect.token_of(owner, hold.token), hold.permits or -1, hold.writes and 1 or 0,
        known.kept and 1 or 0, text(known.note), known.preemptible == true and 1 or 0}
end

local standing = {}
-- known: what its rlock has said of it.
local function add_waiter(owner, since, known)
    if standing[owner] then return end
    standing[owner] = true
    view.waiters[#view.waiters + 1] = {owner, inspect.number(since), text(known.user), text(known.command),
        text(known.note)}
end

-- A sorted set as a table.
local function scores(name)
    local members, all = redis.call('ZRANGE', name, '0', '-1', 'WITHSCORES'), {}
    for i = 1, #members, 2 do all[members[i]] = tonumber(members[i + 1]) end
    return all
end

-- Which of those waiters are not to be counted any more: a table of truths. See waiting.lua.
local function dead_of(at)
    local newest, dead = nil, {}
    for owner, due in pairs(scores(at.heartbeats)) do
        newest = math.max(newest or due, due)
        dead[owner] = due <= server.now or nil
    end
    local silence = newest and server.now - (newest - inspect.DEAD_AFTER) or 0
    return silence >= -1 and silence <= inspect.SILENCE and dead or {}
end

-- A ticket is the epoch us at which it came.
local function came(ticket) return ticket and math.floor(ticket / 1000) end

local function add_all(at)
    local waiters, dead = redis.call('ZRANGE', at.waiters, '0', '-1', 'WITHSCORES'), dead_of(at)
    for i = 1, #waiters, 2 do
        if not dead[waiters[i]] then add_waiter(waiters[i], came(waiters[i + 1]), {}) end
    end
    return #waiters > 0
end

-- Of rlock's those that live, of Redisson's those whose time is not over.
local function add_queue()
    local queue = redis.call('LRANGE', inspect.list, '0', '-1')
    if #queue == 0 then return false end
    local tickets, ends, dead = scores(inspect.queue.waiters), scores(inspect.timeouts), dead_of(inspect.queue)
    local queuers = inspect.hash(inspect.queuers)
    for _, owner in ipairs(queue) do
        local is_ours = string.find(owner, '@', 1, true)
        if is_ours and tickets[owner] and not dead[owner] or not is_ours and (ends[owner] or 0) > server.now then
            local known = decode(queuers[owner])
            add_waiter(owner, known.since or came(tickets[owner]), known)
        end
    end
    return #view.waiters > 0
end

-- All who wait, in the order in which they are let in. Returns the kind that their lines tell of.
function inspect.add_waiters()
    local fair = add_queue()
    local writer = redis.call('GET', inspect.marker)
    if writer then
        add_waiter(writer, came(tonumber(redis.call('ZSCORE', inspect.writers.waiters, writer) or nil)), {})
    end
    local writers = add_all(inspect.writers)
    add_all(inspect.waiters)
    return fair and 'fair' or (writer or writers) and 'write' or ''
end

-- What --once-per has noted: of the last run its row, and when the last that succeeded did. Empty: nothing.
function inspect.last_run()
    local is_hash, record = pcall(inspect.hash, KEYS[17])
    if not is_hash or not record.last then return {} end
    local run = decode(record.last)
    return {text(run.host), inspect.number(run.pid), text(run.user), text(run.command), inspect.number(run.status),
        inspect.number(run.took_ms), inspect.number(run.ended), inspect.number(record.done)}
end
