-- acquire.lua: what is said of a holder: written when it takes the lock, read when it is busy.
local acquire = {}

function acquire.us()
    return cjson.encode({host = call.host, pid = tonumber(call.pid), user = call.user, command = call.command,
        since = server.now, permits = call.permits})
end

function acquire.describe_us()
    redis.call('HSET', key.info, call.owner, acquire.us())
end

-- The proof of an enclosing hold: owner and token together, both still known here.
function acquire.proof()
    local owner = call.proof_owner
    return owner ~= '' and redis.call('HGET', key.hold, owner) == call.proof_token and owner or nil
end

-- hint: ms until it may be free by itself (-1: never). The others: line.place().
function acquire.busy(holder, hint, place, waiting, again_ms, ticket)
    local read, known = pcall(cjson.decode, redis.call('HGET', key.info, holder) or '')
    if not read or type(known) ~= 'table' then known = {} end
    local since = tonumber(known.since)
    return {code.BUSY, hint, place, holder, tostring(known.host or ''), tonumber(known.pid) or 0,
        tostring(known.user or ''), tostring(known.command or ''),
        since and math.max(server.now - since, 0) or 0, waiting, known.kept and 1 or 0,
        again_ms or 5000, ticket or 0}
end
