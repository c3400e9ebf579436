-- include: base clock call server token sem_permit sem sem_leases check
-- Looks whether permits are still held. KEYS and ARGV: base.lua, sem.lua, check.lua.
-- Reply: mutex_check.lua; {KEPT, -1, 0}: permits without a lease

-- By owner and token: which hold it is, and of how many permits. False: there is none.
local function find()
    local known = redis.call('HGET', key.hold, call.owner) or ''
    local token, id, permits = string.match(known, '^(%d+) (%x+) (%d+)$')
    call.id, call.permits = id, tonumber(permits)
    return token == check.token
end

if check.by_id and not sem.token() or not check.by_id and not find() then return check.kept(0) end
local living, ends = sem.living(call.id, call.permits)
if #living == 0 and not check.by_id and not redis.call('ZSCORE', sem.permits, permit_of(call.id)) then
    return check.kept(-1) -- plain ones stand in no list
end
return check.kept(#living == call.permits and ends - server.now or 0)
