-- include: base clock call server rights rights_latch tell foreign try try_once latch
-- Sets a latch that is not there. KEYS and ARGV: base.lua, latch.lua; ARGV 4: the count.
--
-- Reply {RELEASED, count, 0} | {LOST, count, 0}: there is one, left as it is | {WRONG_KIND, 0, 0}
local rights_of = 'latch set'
-- include: rights_ask
local count = latch.count()
if count == false then return {WRONG_KIND, 0, 0} end

local function set()
    if count then return {LOST, count, 0} end
    redis.call('HSET', key.hold, 'latch', server.now_text)
    latch.remember()
    redis.call('SET', key.lock, call.permits)
    server.tell_all('1')
    return {RELEASED, call.permits, 0}
end

return try.once(set, function(code) return {code, count or 0, 0} end)
