-- include: base clock call server rights rights_break tell front waiters
-- include: sem_permit sem sem_leases sem_hex sem_dead sem_waiters lost broken
-- Takes permits away from a holder and gives them back, leased ones and plain, and wakes the waiters that fit in.
-- Of a permit that is not rlock's the owner is its id, in hexadecimal. Sent again it finds them gone.
-- Of many permits it takes some, the last ones first, so that others need not wait: by that the holder has lost all.
-- KEYS and ARGV: base.lua, sem.lua, broken.lua.
--
-- Reply {RELEASED, 0, permits} | {STILL_HELD, 0, permits}: there are more, ask again
--     | {LOST, 0, 0}: the holder that was shown has none | {WRONG_KIND, 0, 0}
local rights_of = 'break'
-- include: rights_ask
if sem.available() == false then return {WRONG_KIND, 0, 0} end
local lasting = redis.call('PTTL', key.hold) > sem.LONGEST -- there are plain permits

local MOST = 150 -- permits: so many in less than a millisecond

-- How many permits it had, and whether there are more. nil: it has none.
local function take_away()
    local token, id, permits = string.match(redis.call('HGET', key.hold, victim) or '', '^(%S+) (%x+) (%d+)$')
    if not id then
        local is_permit = #victim == 32 and not string.find(victim, '%X')
        local number = is_permit and sem.drop(sem.ids(victim, 1)) or 0
        return number > 0 and number or nil
    end
    local first = math.max(permits - MOST + 1, 1) -- of its last ones
    local number = sem.drop(sem.ids(id, tonumber(permits), first))
    if first > 1 and (number > 0 or not lasting) then
        redis.call('HSET', key.hold, victim, ('%s %s %d'):format(token, id, first - 1))
        return number, true
    end
    if number == 0 and not lasting then return nil end
    redis.call('HDEL', key.hold, id, victim)
    redis.call('HDEL', key.info, victim)
    if number == 0 then sem.count_plain(-permits) end
    return number > 0 and number or tonumber(permits)
end

local number, are_more = take_away()
if not number then return lost(key.info) end
tell_victim()
sem.give(number)
sem.wake(waiters.A_FEW)
if are_more then return {STILL_HELD, 0, number} end
sem.collect()
return {RELEASED, 0, number}
