-- inspect_waiters.lua: the waiters, line by line, in the order in which they are let in. A place in a line is a number,
-- from 0.
local OVERLAP = inspect.AT_ONCE / 2 -- so many may leave a line between two pages, and nobody behind them is missed

-- Where a page begins that goes on there.
local begins_at = tonumber(string.match(ARGV[7], '^[123] (%d+)$'))
local function first_at(position)
    local first = tonumber(position)
    return first == begins_at and math.max(first - OVERLAP, 0) or first
end

-- Where to go on after so many; nil: that was all. And how many.
local function next_at(first, number)
    inspect.left = inspect.left - number - 1
    return number == inspect.AT_ONCE and first + number or nil, number
end

-- since: as the ticket says; else what its rlock has said.
local function add_waiter(owner, ticket)
    local known = inspect.known(key.shown, owner)
    local since = ticket and tickets.came(ticket) or known.since
    view.waiters[#view.waiters + 1] = {text(owner), inspect.number(since), text(known.user), text(known.command),
        text(known.note), text(known.any), ticket and tickets.priority(ticket) or 0}
end

-- Which of these waiters are not to be counted any more: a table of truths. See waiting.lua.
local function dead_of(at, owners)
    local dead = {}
    if not owners[1] then return dead end
    at.at_front = {}
    front.read(at, redis.call('ZRANGE', at.waiters, '0', front.NEAR - 1))
    front.read(at, owners)
    local is_silent = front.is_silent(at)
    for owner, known in pairs(at.at_front) do dead[owner] = not is_silent and known.due <= server.now end
    return dead
end

local function look_at(at, position)
    local first = first_at(position)
    local some = redis.call('ZRANGE', at.waiters, first, first + inspect.AT_ONCE - 1, 'WITHSCORES')
    local owners = {}
    for i = 1, #some, 2 do owners[#owners + 1] = some[i] end
    local dead = dead_of(at, owners)
    for i = 1, #some, 2 do
        if not dead[some[i]] then add_waiter(some[i], tonumber(some[i + 1])) end
    end
    return next_at(first, #some / 2)
end

-- Of rlock's those that live, of Redisson's those whose time is not over.
local function look_at_queue(position)
    local first = first_at(position)
    local some = redis.call('LRANGE', inspect.list, first, first + inspect.AT_ONCE - 1)
    local dead = dead_of(inspect.queue, some)
    for _, owner in ipairs(some) do
        local is_ours = string.find(owner, '@', 1, true)
        local number = redis.call('ZSCORE', is_ours and inspect.queue.waiters or inspect.timeouts, owner)
        if number and (is_ours and not dead[owner] or not is_ours and tonumber(number) > server.now) then
            add_waiter(owner, is_ours and tonumber(number))
            view.waited_for = 'fair'
        end
    end
    return next_at(first, #some)
end

-- The writer that has the turn comes before the others; in their line it stands, too.
local function look_at_writers(position)
    local writer = position == '0' and inspect.get(inspect.marker)
    if writer then
        add_waiter(writer, tonumber(redis.call('ZSCORE', inspect.writers.waiters, writer) or nil))
    end
    local more, number = look_at(inspect.writers, position)
    if writer or number > 0 then view.waited_for = view.waited_for or 'write' end
    return more
end

-- The steps through the lines: each goes on at a place, and returns where the next one does, nil: all is done.
local steps = {look_at_queue, look_at_writers, function(position) return look_at(inspect.waiters, position) end}
