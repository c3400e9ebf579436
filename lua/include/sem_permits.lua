-- sem_permits.lua: the leased permits of a semaphore: whose they are, how many, and until when.

-- for from, to in parts(list) do
local function parts(list)
    local to = 0
    return function()
        if to == #list then return nil end
        local from = to + 1
        to = math.min(to + sem.PART, #list)
        return from, to
    end
end

-- How many permits are in use, those of the dead included that nobody has collected.
function sem.in_use()
    return tonumber(plain or 0) + redis.call('ZCARD', sem.permits)
end

-- Those whose lease is over, a part of them.
function sem.some_dead()
    return redis.call('ZRANGEBYSCORE', sem.permits, '-inf', server.now_text, 'LIMIT', '0', sem.PART)
end

-- A hold's permits: for more than one the first 12 bytes of the first, and a number.
function sem.ids(id, permits)
    local ids = {sem.permit(id)}
    for i = 2, permits do ids[i] = string.sub(ids[1], 1, 12) .. struct.pack('>I4', i) end
    return ids
end

-- Their leases end then. Returns how many are new.
function sem.put(ids, ends)
    local scores, number = {}, 0
    for _, id in ipairs(ids) do
        scores[#scores + 1] = ends
        scores[#scores + 1] = id
    end
    for from, to in parts(scores) do
        number = number + redis.call('ZADD', sem.permits, unpack(scores, from, to))
    end
    return number
end
