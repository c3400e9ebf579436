-- rw_holds.lua: whether read holds stand, and for how long: by Redisson's lease keys, too. See holds.lua.
local MANY = 8 -- read holds, of all: the lease keys of so many are asked for one by one

-- For Redisson a read hold whose key is gone is over.
function holds.stands(field)
    local number = holds.count(field)
    return number > 1 or number == 1 and (holds.is_write(field) or redis.call('EXISTS', lease_key(field, 1)) == 1)
end

function holds.left_beside(owner)
    local most = 0
    for i = 1, math.min(holds.count(owner), MANY) do
        most = math.max(most, redis.call('PTTL', lease_key(owner, i)))
    end
    return most
end
