-- request.lua: what a request to take a lock brings with it, by name. base.lua has the list.
call.enqueue, call.only_reenters = ARGV[7] == '1', ARGV[7] == '2'
call.permits_total, call.variant = tonumber(ARGV[9]), ARGV[10] or ''
call.proof_owner, call.proof_token = (ARGV[11] or '') ~= '' and ARGV[11] or nil, ARGV[12]
call.came_back = (ARGV[13] or '') ~= '' -- it has been told its place before
call.last_place, call.ticket = tonumber(ARGV[13]), tonumber(ARGV[14])
call.period = tonumber(ARGV[15])
call.preempts_as = ARGV[16]
