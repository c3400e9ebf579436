-- include: base clock call server rights rights_mutex try try_once
-- Counts that a lock of `run` or `fair` was not acquired in time, until a run ends with status 0: --max-skips.
-- KEYS and ARGV: base.lua; KEYS, the last but one: record, see once.lua.
--
-- Reply {1, how often in a row, 0}
local record, KEPT_FOR = KEYS[#KEYS - 1], 31622400000 -- ms: a year
local rights_of = 'run'
-- include: rights_ask

local function again(code) return {code, tonumber(redis.call('HGET', record, 'skips')) or 0, 0} end

local function count()
    local skips = (redis.call('HGET', record, 'skips') or 0) + 1
    redis.call('HSET', record, 'skips', skips)
    if redis.call('PTTL', record) < KEPT_FOR then redis.call('PEXPIRE', record, KEPT_FOR) end
    return {1, skips, 0}
end

return try.once(count, again)
