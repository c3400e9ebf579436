-- include: base try line line_wait acquire rw rw_take
-- Takes the exclusive side of a read/write lock. While it waits, new readers are held back, but
-- with the variant 'prefer-readers'. KEYS and ARGV: base.lua, rw.lua. Reply: mutex_acquire.lua, and
--       {REFUSED, 0, 0, why}: an enclosing command reads, and would be waited for in vain
local mode = rw.mode()
if mode == false then return {code.WRONG_KIND, 0, 0} end
if try.is_over() then return {code.OVER, 0, 0} end
local answer = rw.granted_before()
if answer then return answer end
local longest = 0
if mode then mode, longest = rw.sweep() end
if not mode then
    local first = rw.grant(rw.write_field(call.owner))
    for _, waiters in ipairs(first.err and {} or {rw.writers, line}) do
        line.tell(waiters, 'first ' .. call.lease) -- they listen on everybody's channel now
    end
    return first
end
local around = rw.around()
if around and rw.count(rw.write_field(around)) > 0 then
    return rw.reenter(rw.write_field(around))
elseif around then
    return {code.REFUSED, 0, 0, 'the enclosing command holds it for reading, and would never let '
        .. 'a writer in: take it for writing first'}
end
local prefers_readers = ARGV[14] == 'prefer-readers'
local waiters = prefers_readers and line or rw.writers
local refusal = line.refusal(waiters, rw.rights)
if refusal then return refusal end
if ARGV[8] == '1' and not prefers_readers then
    local writer = redis.call('GET', rw.marker)
    if not writer or writer == call.owner then
        redis.call('SET', rw.marker, call.owner, 'PX', rw.MARKER_TTL)
    end
end
return acquire.busy(rw.holder(), longest, line.place(waiters))
