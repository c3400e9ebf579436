-- check.lua: what is said of a hold that is looked for: by its id, or, where that is '', by owner and
-- token together. Nothing is written.
-- ARGV  7 token
local check = {by_id = call.id ~= '', token = ARGV[7]}

-- What the lock's holders beside it prove.
function check.proves(owner) return server.token_in(redis.call('HGET', key.info, owner) or '') == check.token end

-- ms: how much is left of it, -1: it has no lease.
function check.kept(ms) return ms == 0 and {LOST, 0, 0} or {KEPT, ms, 0} end
