-- include: base line sem check
-- Looks whether permits are still held. KEYS and ARGV: base.lua, sem.lua, check.lua.
-- Reply: mutex_check.lua; {KEPT, -1, 0}: permits without a lease

-- By owner and token: which hold it is, and of how many permits. False: there is none.
local function find()
    for _, id in ipairs(redis.call('HKEYS', key.hold)) do
        if redis.call('HGET', key.hold, id) == check.token .. ' ' .. call.owner then
            local read, known = pcall(cjson.decode, redis.call('HGET', key.info, call.owner) or '')
            call.id, call.permits = id, read and type(known) == 'table' and tonumber(known.permits) or 1
            return true
        end
    end
    return false
end

if not check.by_id and not find() then return check.lost() end
if not sem.token() then return check.lost() end
local first, number = math.huge, 0
for _, id in ipairs(sem.ids()) do
    local ends = redis.call('ZSCORE', sem.permits, id)
    if ends then first, number = math.min(first, tonumber(ends)), number + 1 end
end
if number == 0 and not check.by_id then return check.kept(-1) end -- plain ones stand in no list
return check.kept_until(number == call.permits and first or 0)
