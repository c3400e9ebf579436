-- include: base clock channel kind server waiters sem sem_permits sem_holds check
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
local first, number = math.huge, 0
for _, ends in ipairs(sem.ends(sem.ids(call.id, call.permits))) do
    if ends then first, number = math.min(first, tonumber(ends)), number + 1 end
end
if number == 0 and not check.by_id then return check.kept(-1) end -- plain ones stand in no list
return check.kept(number == call.permits and math.max(first - server.now, 0) or 0)
