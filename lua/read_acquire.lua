-- include: base try line line_wait acquire rw rw_take
-- Takes the shared side of a read/write lock. New readers wait while a writer holds it, or waits
-- for it; one whose enclosing command reads or writes comes in. KEYS and ARGV: base.lua, rw.lua.
-- Reply: mutex_acquire.lua
local SWEEP_EVERY = 1000 -- ms: not at every reader, for it looks at all of them

local mode = rw.mode()
if mode == false then return {code.WRONG_KIND, 0, 0} end
if try.is_over() then return {code.OVER, 0, 0} end
local answer = rw.granted_before()
if answer then return answer end
if mode == 'write' or server.now - tonumber(redis.call('HGET', key.hold, 'swept') or 0) >= SWEEP_EVERY then
    mode = mode and rw.sweep()
    if mode and redis.call('PTTL', key.hold) > 0 then
        redis.call('HSET', key.hold, 'swept', server.now)
    end
end
local around = mode and rw.around()
if around then return rw.reenter(around) end
local writer = redis.call('GET', rw.marker)
if mode ~= 'write' and not writer then
    local waited = redis.call('ZRANK', key.waiters, call.owner)
    answer = rw.grant(call.owner, mode)
    if waited then line.tell(line, '0') end -- Redisson wakes only the first: each the next
    return answer
end
local refusal = line.refusal(line, rw.rights)
if refusal then return refusal end
local hint = redis.call('PTTL', mode == 'write' and key.lock or rw.marker)
return acquire.busy(mode and rw.holder() or writer, hint, line.place(line))
