-- giving.lua: what a request to give a lock back brings with it, by name. base.lua has the list.
call.keep_ms = tonumber(ARGV[7]) or 0
call.waiter = (ARGV[8] or '') ~= '' and ARGV[8] or call.owner
call.is_astray = ARGV[9] == '1'
call.period, call.status, call.took_ms, call.shown = tonumber(ARGV[10]), ARGV[11], ARGV[12], ARGV[13]
