--!df flags=allow-undeclared-keys
-- include: base
-- Gives one hold of `read` or `write` back, leaves the lines, and wakes the next waiters. Sent
-- again after a lost answer it finds its hold gone and takes nothing more.
-- KEYS and ARGV: base.lua, rw.lua. Redisson's messages: 0 after the last read hold, 1 after a write.
--
-- Reply {RELEASED, 0, 0} | {STILL_HELD, holds left, 0} | {LOST, 0, 0}
-- Nearly always: it is the only hold, nothing else is wanted, and nobody waits.
if not ARGV[8] and string.sub(ARGV[3], 33) == '.1'
    and redis.call('EXISTS', KEYS[5], KEYS[8], KEYS[9], KEYS[#KEYS]) == 0 and redis.pcall('HLEN', KEYS[1]) == 2 then
    local all = redis.call('ZRANGE', KEYS[4], '0', '1')
    local hold = ' ' .. string.sub(ARGV[3], 1, 32)
    local writes = all[1] == ARGV[1] .. ':write' .. hold
    local field = writes and ARGV[1] .. ':write' or ARGV[1]
    if #all == 1 and all[1] == field .. hold and redis.call('HGET', KEYS[1], field) == '1' then
        redis.call('DEL', KEYS[1], KEYS[3], KEYS[4], KEYS[11], writes and KEYS[11] or KEYS[12])
        local publish, channel = string.match(ARGV[5], '^(S?PUBLISH) (.*)$')
        redis.pcall(publish, channel, writes and '1' or '0')
        return {RELEASED, 0, 0}
    end
end

-- include: clock call server tell try lost give front waiters
-- include: holds holds_keep holds_end holds_give rw_lease_key rw rw_leases rw_wake
local waiter = call.waiter

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

local function give_back()
    local field, lives, number =
        holds.give_back(call.owner, waiter, rw.write_field(call.owner), rw.write_field(waiter))
    if not field then
        leave()
        return {LOST, 0, 0}
    end
    local mode, wrote = rw.settle(), holds.is_write(field)
    local is_open = not mode or wrote and mode == 'read' -- to waiters
    local is_kept = call.keep_ms > 0 and number == 0 -- for less time than they were told
    if is_open or is_kept then server.tell_all(wrote and '1' or '0') end
    if is_open then rw.wake() end
    if not lives then return {LOST, 0, 0} end
    return {number > 0 and STILL_HELD or RELEASED, number, 0}
end

return try.give_back(give_back)
