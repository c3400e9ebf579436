-- include: base clock channel rights server waiters sem sem_permits sem_holds sem_waiters broken
-- Takes permits away from holders and gives them back, leased ones and plain, and wakes who fits in.
-- Of a permit that is not rlock's the owner is its id, in hexadecimal. Sent again it finds them gone.
-- KEYS and ARGV: base.lua, sem.lua, broken.lua.
--
-- Reply {RELEASED, holders, permits} | {LOST, 0, 0}: who was shown holds none | {WRONG_KIND, 0, 0}
local refusal = rights.refusal('break')
if refusal then return refusal end
if sem.available() == false then return {WRONG_KIND, 0, 0} end
local PLAIN_MS = 604800000 -- no lease is longer: what stands for longer are plain permits
local lasting = redis.call('PTTL', key.hold) > PLAIN_MS

-- How many permits an owner had. nil: it is none.
local function take_away(owner)
    local id, permits = string.match(redis.call('HGET', key.hold, owner) or '', '^%S+ (%x+) (%d+)$')
    if not id then
        local is_permit = #owner == 32 and not string.find(owner, '%X')
        local number = is_permit and sem.drop(sem.ids(owner, 1)) or 0
        return number > 0 and number or nil
    end
    local number = sem.drop(sem.ids(id, tonumber(permits)))
    if number == 0 and not lasting then return nil end
    redis.call('HDEL', key.hold, id, owner)
    redis.call('HDEL', key.info, owner)
    tell_victim(owner)
    if number == 0 then sem.count_plain(-permits) end
    return number > 0 and number or tonumber(permits)
end

local broken, given = 0, 0
for owner in pairs(shown) do
    local number = take_away(owner)
    broken = broken + (number and 1 or 0)
    given = given + (number or 0)
end
if broken == 0 then return {LOST, 0, 0} end
sem.give(given)
sem.collect()
sem.wake(waiters.A_FEW)
return {RELEASED, broken, given}
