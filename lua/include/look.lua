-- look.lua: what the views of all kinds are made of. Nothing here writes, and what the dead left
-- counts as not there.
--
-- KEYS  6 queue  7 timeouts  8 beats: of `fair`  9 marker  10 writers: of `write`
--       11 permits: a semaphore's  12 queuers: of `fair`
local look = {
    queue = KEYS[6], timeouts = KEYS[7], beats = KEYS[8], marker = KEYS[9], writers = KEYS[10],
    permits = KEYS[11], queuers = KEYS[12],
    DEAD_AFTER = 7000, SILENCE = 5000, -- see queue.lua
}
local view = {kind = '', total = -1, available = -1, count = -1, holders = {}, waiters = {}}

-- Whatever a stranger has put there: a whole number that C can read, -1 for none.
function look.number(value)
    local number = tonumber(value)
    return number and number >= 0 and number < 2 ^ 53 and math.floor(number) or -1
end

local function text(value) return type(value) == 'string' and value or '' end

-- A hash as a table.
function look.hash(name)
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
function look.known(owner)
    infos = infos or look.hash(key.info)
    return decode(infos[owner])
end

-- hold: {ttl, holds, token: digits or nil, permits, writes}
function look.add_holder(owner, hold)
    local known = look.known(owner)
    view.holders[#view.holders + 1] = {owner, text(known.host), look.number(known.pid), text(known.user),
        text(known.command), look.number(known.since), hold.ttl, hold.holds,
        string.match(hold.token or '', '^%d+$') or '', hold.permits or -1, hold.writes and 1 or 0,
        known.kept and 1 or 0}
end

local standing = {}
-- known: what its rlock has said of it.
local function add_waiter(owner, since, known)
    if standing[owner] then return end
    standing[owner] = true
    view.waiters[#view.waiters + 1] = {owner, look.number(since), text(known.user), text(known.command)}
end

-- Since when it stands there: who was woken in vain stands at the end again.
local function add_line(name)
    local line = redis.call('ZRANGE', name, 0, -1, 'WITHSCORES')
    for i = 1, #line, 2 do add_waiter(line[i], line[i + 1], {}) end
    return #line > 0
end

-- Of rlock's those that beat, of Redisson's those whose time is not over.
local function add_queue()
    local queue = redis.call('LRANGE', look.queue, 0, -1)
    if #queue == 0 then return false end
    local newest = redis.call('ZRANGE', look.beats, -1, -1, 'WITHSCORES')[2]
    local silence = newest and server.now - newest or 0
    local dead_at = server.now - look.DEAD_AFTER - (silence > look.SILENCE and silence or 0)
    local queuers = look.hash(look.queuers)
    for _, owner in ipairs(queue) do
        local beat = tonumber(redis.call('ZSCORE', look.beats, owner) or nil)
        local ends = tonumber(redis.call('ZSCORE', look.timeouts, owner) or 0)
        local is_ours = string.find(owner, '@', 1, true) -- not one that waits for a name's twin: queue.lua
        if beat and beat > dead_at or not beat and not is_ours and ends > server.now then
            local known = decode(queuers[owner])
            add_waiter(owner, known.since, known)
        end
    end
    return #view.waiters > 0
end

-- All who wait, in the order in which they are let in. Returns the kind that their lines tell of.
function look.add_waiters()
    local fair = add_queue()
    local writer = redis.call('GET', look.marker)
    if writer then add_waiter(writer, redis.call('ZSCORE', look.writers, writer) or nil, {}) end
    local writers = add_line(look.writers)
    add_line(key.waiters)
    return fair and 'fair' or (writer or writers) and 'write' or ''
end
