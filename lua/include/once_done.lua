-- once_done.lua: no run is wanted where one has succeeded: once.lua.

-- A request for a longer time than all before makes the record last for it. If a success lies in the future (the clock
-- was set back), it counts as one of this moment: else nothing would run until the clock has caught up. Returns the
-- answer, or nil if a run is wanted.
function once.done()
    if not once.wanted() then return nil end
    local done = server.typed('HGET', once.record, 'done')
    if done == nil then return {WRONG_KIND, 0, 0} end
    if not tonumber(done) then return nil end
    local age = server.now - done
    if age < 0 then redis.pcall('HSET', once.record, 'done', server.now) end
    local same = call.once_key and redis.call('HGET', once.record, 'key') == call.once_key
    if not same and not (call.period and age < call.period) then return nil end
    local keep = tonumber(redis.call('HGET', once.record, 'keep')) or 0
    if age < 0 or keep < once.wanted() then once.prolong(math.max(keep, once.wanted())) end
    local read, run = pcall(cjson.decode, redis.call('HGET', once.record, 'success') or '')
    if not read or type(run) ~= 'table' then run = {} end
    return {DONE, math.max(age, 0), tonumber(run.took_ms) or 0, tostring(run.host or ''), tonumber(run.pid) or 0,
        tostring(run.user or ''), tostring(run.command or ''), same and 1 or 0}
end
