-- request.lua: what a request to take a lock brings with it, by name. base.lua has the list.
call.enqueue = ARGV[6] == '1'
call.permits_total, call.variant = tonumber(ARGV[8]), ARGV[9] or ''
call.proof_owner, call.proof_token = ARGV[10] or '', ARGV[11]
call.came_back = (ARGV[12] or '') ~= '' -- it has been told its place before
call.last_place, call.ticket = tonumber(ARGV[12]), tonumber(ARGV[13])
call.period = tonumber(ARGV[14])
call.preempts_as = ARGV[15]
