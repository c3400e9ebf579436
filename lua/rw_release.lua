-- include: base line rw
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
    local was_writer = redis.call('ZSCORE', rw.writers, waiter) or redis.call('GET', rw.marker) == waiter
    for _, waiters in ipairs({key.waiters, rw.writers}) do
        if line.leave(waiters, waiter) then line.tell(waiters, 'first ' .. math.max(held, 0)) end
    end
    rw.pass_marker_on(waiter)
    if was_writer and rw.mode() ~= 'write' then rw.wake() end
end

-- Left held without an owner: no proof of it any more, what CMD left behind does not re-enter.
local function leave_held(field, i, ms)
    local owner = rw.owner_of(field)
    redis.call('HDEL', key.hold, field .. ':' .. i)
    if rw.count(owner) + rw.count(rw.write_field(owner)) == 1 then
        redis.call('HDEL', key.hold, owner)
    end
    if field == owner then
        redis.call('PEXPIRE', rw.lease_key(field, i), ms)
        server.expire_after(ms, key.lock, key.info, key.hold)
    else
        redis.call('HSET', key.hold, field, server.now + ms)
        local _, longest = rw.sweep() -- its own read holds go on
        redis.call('PEXPIRE', key.lock, math.max(ms, longest))
    end
    return {code.RELEASED, 0, 0}
end

local mode = rw.mode()
local field, i, holds
if mode then field, i, holds = rw.locate(call.owner, waiter) end
if not field then
    leave()
    return {code.LOST, 0, 0}
end
local writes = field ~= rw.owner_of(field)
local until_ms = writes and tonumber(redis.call('HGET', key.hold, 'until') or 0) or 0
if writes and holds > 1 and keep_ms > 0 then -- for the outer hold to keep
    redis.call('HSET', key.hold, 'until', math.max(until_ms, server.now + keep_ms))
    keep_ms = 0
elseif holds == 1 then
    keep_ms = math.max(keep_ms, until_ms - server.now)
end
if keep_ms > 0 then return leave_held(field, i, keep_ms) end
rw.drop(field, i, holds)
local longest
mode, longest = rw.sweep()
if mode == 'read' then redis.call('PEXPIRE', key.lock, longest) end
local left = mode and rw.count(field) or 0
if left > 0 then return {code.STILL_HELD, left, 0} end
if writes or not mode then
    server.tell_all(writes and '1' or '0')
    rw.wake()
end
return {code.RELEASED, 0, 0}
