-- once_note.lua: what is noted of a run with --once-per or --once-key: once.lua.

-- A run has ended, and its hold was held until now. What can't be noted keeps nobody from giving it back.
function once.note()
    if call.status == '0' then redis.pcall('HDEL', once.record, 'skips') end
    if not once.wanted() then return end
    local run = ('{%s,"status":%d,"took_ms":%.0f,"ended":%.0f}'):format(call.shown, call.status, call.took_ms,
        server.now)
    local keep = tonumber(redis.pcall('HGET', once.record, 'keep') or nil) or 0
    redis.pcall('HSET', once.record, 'last', run)
    if call.status == '0' then redis.pcall('HSET', once.record, 'success', run, 'done', server.now) end
    if call.status == '0' and call.once_key then redis.pcall('HSET', once.record, 'key', call.once_key) end
    once.prolong(math.max(keep, once.wanted()))
end
