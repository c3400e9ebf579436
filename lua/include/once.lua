-- once.lua: --once-per and --once-key: whether a run has succeeded a short time ago, or with this key (once_done.lua),
-- and what is noted of each (once_note.lua).
--
-- KEYS, the last but one  record: hash {last: JSON of the last run that has ended, success: of the last
--                         that has succeeded, done: epoch ms at which that was, key: of the last that has succeeded
--                         with one, keep: the longest time that anybody has asked for, ms, skips: see skip.lua}.
--                         It expires so long after the last run, but not within a day
local DONE = -5 -- in answer to a request to take it
local once = {record = KEYS[#KEYS - 1], LEAST = 86400000, FOREVER = 3155760000000} -- ms: a day, 100 years

-- keep: for how long it is kept now.
function once.prolong(keep)
    redis.pcall('HSET', once.record, 'keep', keep)
    redis.pcall('PEXPIRE', once.record, math.max(keep, once.LEAST))
end

-- For how long it is wanted; nil: it is not.
function once.wanted() return call.once_key and once.FOREVER or call.period end
