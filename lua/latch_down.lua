-- include: base clock call server rights rights_latch tell foreign try try_once latch
-- Counts down, and opens the latch at zero. KEYS and ARGV: base.lua, latch.lua; ARGV 4: by how much, 0 only to look.
--
-- Reply {RELEASED, count left, 0} | {LOST, 0, 0}: there is none | {WRONG_KIND, 0, 0}
local rights_of = 'latch down'
-- include: rights_ask
local count = latch.count()
if count == false then return {WRONG_KIND, 0, 0} end

local function look(code) return {code, count or 0, 0} end

local function count_down()
    if not count then return {LOST, 0, 0} end
    local left = count - call.permits
    if left > 0 then
        latch.remember()
        redis.call('DECRBY', key.lock, call.permits)
        return {RELEASED, left, 0}
    end
    redis.call('DEL', key.lock, key.hold)
    server.tell_all('0')
    return {RELEASED, 0, 0}
end

if call.permits == 0 then return look(count and RELEASED or LOST) end
return try.once(count_down, look)
