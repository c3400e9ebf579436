-- acquire.lua: who holds it, in the answer that it is busy; and who re-enters it.
local acquire = {}

-- The proof of an enclosing hold: owner and token together, both still known here.
function acquire.proof()
    local owner = call.proof_owner
    return owner ~= '' and redis.call('HGET', key.hold, owner) == call.proof_token and owner or nil
end

-- hint: ms until it may be free by itself (-1: never). The others: waiters.place().
function acquire.busy(holder, hint, place, waiting, again_ms, ticket)
    local read, known = pcall(cjson.decode, redis.call('HGET', key.info, holder) or '')
    if not read or type(known) ~= 'table' then known = {} end
    local since = tonumber(known.since)
    return {BUSY, hint, place, holder, tostring(known.host or ''), tonumber(known.pid) or 0,
        tostring(known.user or ''), tostring(known.command or ''),
        since and math.max(server.now - since, 0) or 0, waiting, known.kept and 1 or 0,
        again_ms or 5000, ticket or 0}
end
