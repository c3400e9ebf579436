-- request.lua: what a request to take a lock brings with it, by name. base.lua has the list.
call.proof_owner, call.proof_token, call.enqueue = ARGV[6], ARGV[7], ARGV[8] == '1'
call.host, call.pid, call.user, call.command = ARGV[9], ARGV[10], ARGV[11], ARGV[12]
call.permits_total, call.variant = tonumber(ARGV[13]), ARGV[14]
call.came_back = ARGV[15] ~= '' -- it has been told its place before
call.last_place, call.ticket = tonumber(ARGV[15]), tonumber(ARGV[16] or nil)
