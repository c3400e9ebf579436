-- once.lua: --once-per: whether a run has succeeded a short time ago, and what is noted of each.
--
-- KEYS, the last but one  record: hash {last: JSON of the last run that has ended, success: of the last
--                         that has succeeded, done: epoch ms at which that was, keep: the longest time that anybody
--                         has asked for, ms}. It expires so long after the last run, but not within a day
local DONE = -5 -- in answer to a request to take it
local once = {record = KEYS[#KEYS - 1], LEAST = 86400000}

-- keep: for how long it is kept now.
local function prolong(keep)
    redis.pcall('HSET', once.record, 'keep', keep)
    redis.pcall('PEXPIRE', once.record, math.max(keep, once.LEAST))
end

-- Whoever asks for a longer time than all before makes the record last for it. A success that lies in the future
-- (the clock was set back) is taken for one of this moment, and is over in time: else nothing would run until
-- the clock has caught up. Nil: a run is wanted; else the answer.
function once.done()
    if not call.period then return nil end
    local done = server.typed('HGET', once.record, 'done')
    if done == nil then return {WRONG_KIND, 0, 0} end
    if not tonumber(done) then return nil end
    local age = server.now - done
    if age < 0 then redis.pcall('HSET', once.record, 'done', server.now) end
    if age >= call.period then return nil end
    local keep = tonumber(redis.call('HGET', once.record, 'keep')) or 0
    if age < 0 or keep < call.period then prolong(math.max(keep, call.period)) end
    local read, run = pcall(cjson.decode, redis.call('HGET', once.record, 'success') or '')
    if not read or type(run) ~= 'table' then run = {} end
    return {DONE, math.max(age, 0), tonumber(run.took_ms) or 0, tostring(run.host or ''), tonumber(run.pid) or 0,
        tostring(run.user or ''), tostring(run.command or '')}
end

-- A run has ended, and its hold was held until now. What can't be noted keeps nobody from giving it back.
function once.note()
    if not call.period then return end
    local run = ('{%s,"status":%d,"took_ms":%.0f,"ended":%.0f}'):format(call.shown, call.status, call.took_ms,
        server.now)
    local keep = tonumber(redis.pcall('HGET', once.record, 'keep') or nil) or 0
    redis.pcall('HSET', once.record, 'last', run)
    if call.status == '0' then redis.pcall('HSET', once.record, 'success', run, 'done', server.now) end
    prolong(math.max(keep, call.period))
end
