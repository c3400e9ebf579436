-- sem_leases.lua: leased permits: whose they are, and until when; found and renewed: sem.lua.

-- A hold's permits, from that one on, nil: all: for more than one the first 12 bytes of the first, and a number.
function sem.ids(id, permits, from)
    local first, ids = permit_of(id), {}
    for i = from or 1, permits do
        ids[#ids + 1] = i == 1 and first or string.sub(first, 1, 12) .. struct.pack('>I4', i)
    end
    return ids
end

-- Their leases end then. Returns how many are new.
function sem.put(ids, ends)
    local scores, number = {}, 0
    for _, id in ipairs(ids) do
        scores[#scores + 1] = ends
        scores[#scores + 1] = id
    end
    for from, to in sem.parts(scores) do
        number = number + redis.call('ZADD', sem.permits, unpack(scores, from, to))
    end
    return number
end

-- Of a hold's permits those whose lease is not over, and when it ends: all of them end together.
function sem.living(id, permits)
    local first = permit_of(id)
    local ends = redis.call('ZSCORE', sem.permits, first)
    if not ends or tonumber(ends) <= server.now then return {} end
    if permits == 1 then return {first}, tonumber(ends) end
    local living = {}
    for _, each in ipairs(redis.call('ZRANGEBYSCORE', sem.permits, ends, ends)) do
        if string.sub(each, 1, 12) == string.sub(first, 1, 12) then living[#living + 1] = each end
    end
    return living, tonumber(ends)
end

-- Those of the call: how many, and of leased ones which, and when they end. What was given back, and left held for a
-- while, is nobody's.
function sem.ours()
    if not sem.token() then return 0, {} end
    if call.plain then return call.permits, {}, 0 end
    local living, ends = sem.living(call.id, call.permits)
    return #living, living, ends
end

-- Each of the permits for a whole lease from now on, or as long as before if that is longer. An expiry is the first
-- write: it is allowed when memory is out, and after it the others are.
function sem.renew(ours, ends)
    sem.expire(call.lease_text)
    sem.put(ours, string.format('%d', math.max(ends, server.now + call.lease)))
end
