-- check.lua: what is said of a hold that is looked for: by its id, or, where that is '', by owner and
-- token together. Nothing is written.
-- ARGV  6 token
local check = {by_id = call.id ~= '', token = ARGV[7]}

-- What the lock's holders beside it prove, {owner: token}.
function check.proves(owner) return redis.call('HGET', key.hold, owner) == check.token end

function check.kept(ms) return {KEPT, ms, 0} end

-- ends: epoch ms; an end that has passed is none.
function check.kept_until(ends)
    return ends > server.now and check.kept(ends - server.now) or check.lost()
end

function check.lost() return {LOST, 0, 0} end
