-- include: base clock channel simple rw
-- Gives one hold of `read` or `write` back, leaves the lines, and wakes who can come in now. Sent
-- again after a lost answer it finds its hold gone and takes nothing more.
-- KEYS and ARGV: base.lua, rw.lua. Redisson's messages: 0 after the last read hold, 1 after a write.
--
-- Reply {RELEASED, 0, 0} | {STILL_HELD, holds left, 0} | {LOST, 0, 0}
-- Nearly always: it is the only hold, nothing else is wanted, and nobody waits.
local only = redis.pcall('HLEN', key.lock) == 2 and redis.call('HGET', key.hold, call.id)
local writes = only == call.owner .. ':write:1'
local own = writes and rw.write_field(call.owner) or call.owner
if (writes or only == own .. ':1') and is_simple(ARGV[7], rw.marker, rw.writers.waiters)
    and redis.call('HGET', key.lock, own) == '1' and rw.alive(own, '1') then
    rw.clear(rw.lease_key(own, '1'), rw.told)
    redis.pcall(publish, channel, writes and '1' or '0')
    return {RELEASED, 0, 0}
end

-- include: kind server giving try waiters rw_holds rw_wake kept
local keep_ms, waiter = call.keep_ms, call.waiter

-- A writer that leaves lets the readers in that it held back. The next in a line listens on
-- everybody's channel from here on.
local function leave()
    local held = redis.call('PTTL', key.lock)
    local marked = redis.call('GET', rw.marker) == waiter
    local was_writer = marked or redis.call('ZRANK', rw.writers.waiters, waiter)
    if waiters.leave(waiters, waiter) then
        redis.call('DEL', rw.told)
        waiters.tell(waiters, 'first ' .. math.max(held, 0))
    end
    if waiters.leave(rw.writers, waiter) then waiters.tell(rw.writers, 'first ' .. math.max(held, 0)) end
    if marked then rw.pass_marker_on(waiter) end
    if was_writer and redis.call('HGET', key.lock, 'mode') ~= 'write' then rw.wake() end
end

-- Left held without an owner, for it goes over to nobody: no proof of it any more, what CMD left
-- behind does not re-enter.
local function leave_held(field, i, holds)
    local owner = rw.owner_of(field)
    local nobody = rw.kept(owner)
    rw.expire(math.max(redis.call('PTTL', key.lock), keep_ms)) -- first: see rw.renew()
    note_kept(owner, nobody)
    rw.count_one(rw.is_write(field) and rw.write_field(nobody) or nobody, keep_ms)
    rw.drop(field, i, holds)
    rw.settle()
    return {RELEASED, 0, 0}
end

-- Returns the mode of the holds that remain.
local function take_out(field, i, holds)
    if holds == 1 and redis.call('HLEN', key.lock) == 2 then return rw.clear(rw.lease_key(field, 1)) end
    rw.drop(field, i, holds)
    rw.bury()
    return rw.settle()
end

local function give_back()
    local field, i, holds = rw.find(call.owner, waiter)
    if not field then
        rw.forget(call.owner)
        leave()
        return {LOST, 0, 0}
    end
    local alive = rw.alive(field, i)
    if alive and keep_ms > 0 then return leave_held(field, i, holds) end
    local mode = take_out(field, i, holds)
    local left, wrote = mode and holds - 1 or 0, rw.is_write(field)
    if not mode or wrote and mode == 'read' then
        server.tell_all(wrote and '1' or '0')
        rw.wake()
    end
    if not alive then return {LOST, 0, 0} end
    return {left > 0 and STILL_HELD or RELEASED, left, 0}
end

return try.give_back(give_back)
