-- include: base try line rw kept
-- Gives one hold of `read` or `write` back, leaves the lines, and wakes who can come in now. Sent
-- again after a lost answer it finds its hold gone and takes nothing more.
-- KEYS and ARGV: base.lua, rw.lua. Redisson's messages: 0 after the last read hold, 1 after a write.
--
-- Reply {RELEASED, 0, 0} | {STILL_HELD, holds left, 0} | {LOST, 0, 0}
local keep_ms, waiter = tonumber(ARGV[6]), ARGV[7]

-- A writer that leaves lets the readers in that it held back. The next in a line listens on
-- everybody's channel from here on.
local function leave()
    local held = redis.call('PTTL', key.lock)
    local was_writer = redis.call('ZRANK', rw.writers.waiters, waiter) or redis.call('GET', rw.marker) == waiter
    for _, waiters in ipairs({line, rw.writers}) do
        if line.leave(waiters, waiter) then line.tell(waiters, 'first ' .. math.max(held, 0)) end
    end
    rw.pass_marker_on(waiter)
    if was_writer and rw.mode() ~= 'write' then rw.wake() end
end

-- Left held without an owner: no proof of it any more, what CMD left behind does not re-enter.
local function leave_held(field, i, ms)
    redis.call('HDEL', key.hold, field .. ':' .. i)
    rw.forget(rw.owner_of(field))
    if not redis.call('HGET', key.hold, rw.owner_of(field)) then note_kept(rw.owner_of(field)) end
    if field == rw.owner_of(field) then
        redis.call('PEXPIRE', rw.lease_key(field, i), ms)
    else
        redis.call('HSET', key.hold, field, server.now + ms)
    end
    rw.settle()
    return {code.RELEASED, 0, 0}
end

-- What --min-hold still asks for. An inner write leaves it to the outer one, whose lease is the same.
local function still_to_keep(field, holds)
    if field == rw.owner_of(field) then return keep_ms end
    local until_ms = tonumber(redis.call('HGET', key.hold, 'until') or 0)
    if holds == 1 then return math.max(keep_ms, until_ms - server.now) end
    if keep_ms > 0 then
        redis.call('HSET', key.hold, 'until', math.max(until_ms, server.now + keep_ms))
    end
    return 0
end

local function give_back()
    local field, i, holds
    if rw.mode() then field, i, holds = rw.locate(call.owner, waiter) end
    if not field then
        leave()
        return {code.LOST, 0, 0}
    end
    local alive = rw.alive(field, i)
    keep_ms = alive and still_to_keep(field, holds) or 0
    if keep_ms > 0 then return leave_held(field, i, keep_ms) end
    rw.drop(field, i, holds)
    local mode = rw.settle()
    local left = mode and rw.count(field) or 0
    local wrote = field ~= rw.owner_of(field)
    if left == 0 and (wrote or not mode) then
        server.tell_all(wrote and '1' or '0')
        rw.wake()
    end
    if not alive then return {code.LOST, 0, 0} end
    return {left > 0 and code.STILL_HELD or code.RELEASED, left, 0}
end

return try.give_back(give_back)
