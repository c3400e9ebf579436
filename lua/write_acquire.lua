-- include: base line acquire rw rw_take
-- Takes the exclusive side of a read/write lock. While it waits, new readers are held back, but
-- with the variant 'prefer-readers'. KEYS and ARGV: base.lua, rw.lua. Reply: mutex_acquire.lua, and
--       {REFUSED, 0, 0, why}: an enclosing command reads, and would be waited for in vain
local mode = rw.mode()
if mode == false then return {code.WRONG_KIND, 0, 0} end
local answer = rw.granted_before()
if answer then return answer end
local longest = 0
if mode then mode, longest = rw.sweep() end
if not mode then
    local first = rw.grant(rw.write_field(call.owner))
    for _, waiters in ipairs({rw.writers, key.waiters}) do -- they listen on everybody's channel now
        line.tell(waiters, 'first ' .. call.lease)
    end
    return first
end
local around = rw.around()
if around and redis.call('HEXISTS', key.lock, rw.write_field(around)) == 1 then
    return rw.reenter(rw.write_field(around))
elseif around then
    return {code.REFUSED, 0, 0, 'the enclosing command holds it for reading, and would never let '
        .. 'a writer in: take it for writing first'}
end
local waiters = rw.writers
if ARGV[14] == 'prefer-readers' then
    waiters = key.waiters
elseif ARGV[8] == '1' then
    local writer = redis.call('GET', rw.marker)
    if not writer or writer == call.owner then
        redis.call('SET', rw.marker, call.owner, 'PX', rw.MARKER_TTL)
    end
end
return acquire.busy(rw.holder(), longest, line.place(waiters))
