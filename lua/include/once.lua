-- once.lua: --once-per and --once-key: whether a run has succeeded a short time ago, or with this key, and what is
-- noted of each.
--
-- KEYS, the last but one  record: hash {last: JSON of the last run that has ended, success: of the last
--                         that has succeeded, done: epoch ms at which that was, key: of the last that has succeeded
--                         with one, keep: the longest time that anybody has asked for, ms, skips: see skip.lua}.
--                         It expires so long after the last run, but not within a day
local DONE = -5 -- in answer to a request to take it
local once = {record = KEYS[#KEYS - 1], LEAST = 86400000, FOREVER = 3155760000000} -- ms: a day, 100 years

-- keep: for how long it is kept now.
local function prolong(keep)
    redis.pcall('HSET', once.record, 'keep', keep)
    redis.pcall('PEXPIRE', once.record, math.max(keep, once.LEAST))
end

-- For how long it is wanted; nil: it is not.
local function wanted() return call.once_key and once.FOREVER or call.period end

-- Whoever asks for a longer time than all before makes the record last for it. A success that lies in the future
-- (the clock was set back) is taken for one of this moment, and is over in time: else nothing would run until
-- the clock has caught up. Nil: a run is wanted; else the answer.
function once.done()
    if not wanted() then return nil end
    local done = server.typed('HGET', once.record, 'done')
    if done == nil then return {WRONG_KIND, 0, 0} end
    if not tonumber(done) then return nil end
    local age = server.now - done
    if age < 0 then redis.pcall('HSET', once.record, 'done', server.now) end
    local same = call.once_key and redis.call('HGET', once.record, 'key') == call.once_key
    if not same and not (call.period and age < call.period) then return nil end
    local keep = tonumber(redis.call('HGET', once.record, 'keep')) or 0
    if age < 0 or keep < wanted() then prolong(math.max(keep, wanted())) end
    local read, run = pcall(cjson.decode, redis.call('HGET', once.record, 'success') or '')
    if not read or type(run) ~= 'table' then run = {} end
    return {DONE, math.max(age, 0), tonumber(run.took_ms) or 0, tostring(run.host or ''), tonumber(run.pid) or 0,
        tostring(run.user or ''), tostring(run.command or ''), same and 1 or 0}
end

-- A run has ended, and its hold was held until now. What can't be noted keeps nobody from giving it back.
function once.note()
    if call.status == '0' then redis.pcall('HDEL', once.record, 'skips') end
    if not wanted() then return end
    local run = ('{%s,"status":%d,"took_ms":%.0f,"ended":%.0f}'):format(call.shown, call.status, call.took_ms,
        server.now)
    local keep = tonumber(redis.pcall('HGET', once.record, 'keep') or nil) or 0
    redis.pcall('HSET', once.record, 'last', run)
    if call.status == '0' then redis.pcall('HSET', once.record, 'success', run, 'done', server.now) end
    if call.status == '0' and call.once_key then redis.pcall('HSET', once.record, 'key', call.once_key) end
    prolong(math.max(keep, wanted()))
end
