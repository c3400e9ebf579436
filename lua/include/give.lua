-- give.lua: what a request to give a lock back brings with it, by name. base.lua has the list.
call.status, call.keep_ms = ARGV[7], tonumber(ARGV[8]) or 0
call.waiter = (ARGV[9] or '') ~= '' and ARGV[9] or call.owner
call.is_astray = ARGV[10] == '1'
call.period, call.took_ms, call.shown = tonumber(ARGV[11]), ARGV[12], ARGV[13]
call.once_key = (ARGV[14] or '') ~= '' and ARGV[14] or nil
call.priority = tonumber(ARGV[15]) or 0

-- What info says of a lock that --min-hold keeps after its holder has given it back: it is nobody's any more, so nobody
-- can prove to hold it, and waiters are told so.
function call.kept_info(owner)
    local shown = redis.call('HGET', key.info, owner) or '{}'
    return (string.gsub(shown, '^{"token":%d+', '{"kept":true', 1))
end

-- give_back() does it, and answers, unless the try is over: then nothing is left to be done.
function try.give_back(give_back)
    if try.is_over() then return lost(try.tombstone) end
    local answer = give_back()
    if call.is_astray then try.remember('over', call.try) end
    return answer[1] == LOST and lost(try.tombstone) or answer
end
