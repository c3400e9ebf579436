-- sem_dead.lua: leased permits that end: given back, broken, or dead.

-- Returns how many of them there were.
function sem.drop(ids)
    local number = 0
    for from, to in sem.parts(ids) do
        number = number + redis.call('ZREM', sem.permits, unpack(ids, from, to))
    end
    return number
end

-- Those whose lease is over, a part of them.
function sem.some_dead()
    return redis.call('ZRANGEBYSCORE', sem.permits, '-inf', server.now_text, 'LIMIT', '0', sem.PART)
end

-- What stands beside the lock about the holders of these permits goes.
local function forget(permits)
    local ids, owners = {}, {}
    for _, permit in ipairs(permits) do ids[#ids + 1] = hex_of(permit) end
    if #ids == 0 then return end
    for _, known in ipairs(redis.call('HMGET', key.hold, unpack(ids))) do
        owners[#owners + 1] = known and string.match(known, '^%S+ (.*)$') or nil
    end
    if #owners == 0 then return end
    redis.call('HDEL', key.info, unpack(owners))
    for _, owner in ipairs(owners) do ids[#ids + 1] = owner end
    redis.call('HDEL', key.hold, unpack(ids))
end

-- What the dead took comes back, once, a part at a time. Returns how much, and how many are available if any came back.
function sem.collect()
    local dead = sem.some_dead()
    if #dead == 0 then return 0 end
    forget(dead)
    return #dead, sem.give(sem.drop(dead))
end
