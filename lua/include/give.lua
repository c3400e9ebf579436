-- give.lua: what a request to give a lock back brings with it, by name. base.lua has the list.
call.keep_ms = tonumber(ARGV[7]) or 0
call.waiter = (ARGV[8] or '') ~= '' and ARGV[8] or call.owner
call.is_astray = ARGV[9] == '1'
call.period, call.status, call.took_ms, call.shown = tonumber(ARGV[10]), ARGV[11], ARGV[12], ARGV[13]

-- What --min-hold keeps when its holder has given it back is nobody's any more: nobody can prove to hold it, and whoever
-- waits is told so. What info says of it.
function call.kept_info(owner)
    local shown = redis.call('HGET', key.info, owner) or '{}'
    return (string.gsub(shown, '^{"token":%d+', '{"kept":true', 1))
end
