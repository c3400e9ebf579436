-- check.lua: what is said of a hold that is looked for: by its id, or, where that is '', by owner and
-- token together. Nothing is written.
-- ARGV  6 token
local check = {by_id = call.id ~= '', token = ARGV[6]}

-- What the lock's holders beside it prove, {owner: token}.
function check.proves(owner) return redis.call('HGET', key.hold, owner) == check.token end

function check.kept(ms) return {code.KEPT, ms, 0} end

-- Others have held it since if the last token is another. No right to read it must not hide that the
-- lock is lost.
function check.lost()
    local read, last = pcall(server.integer, key.token)
    return {code.LOST, read and last or -1, 0}
end
