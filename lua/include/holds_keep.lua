-- holds_keep.lua: holds that come, last and go, one at a time: holds.lua.

-- For how long the keys stand, ms.
function holds.expire(ms)
    for _, each in ipairs({key.lock, key.info, holds.leases}) do redis.call('PEXPIRE', each, ms) end
end

-- The lease of a field's hold: as long as that, ms.
function holds.lease(field, id, ms)
    redis.call('ZADD', holds.leases, server.after(ms), field .. ' ' .. id)
    holds.changed(field, id)
end

-- One hold more.
function holds.add(field, ms)
    redis.call('HSET', key.lock, field, holds.count(field) + 1)
    holds.lease(field, call.id, ms)
end

-- A whole lease from now on, or as long as before if that is longer. An expiry comes first: it is allowed when memory
-- is out, and after it the other commands are.
function holds.renew(field, ends)
    holds.expire(math.max(redis.call('PTTL', key.lock), call.lease))
    holds.lease(field, call.id, math.max(ends - server.now, call.lease))
end

-- One hold less, if it is there. An owner without any proves nothing, and its name is not asked for. Returns whether the
-- field has more.
function holds.drop(field, id)
    local number, owner = holds.count(field), holds.owner_of(field)
    if redis.call('ZREM', holds.leases, field .. ' ' .. id) == 0 then return number > 0 end
    if number > 1 then
        redis.call('HSET', key.lock, field, number - 1)
    else
        if number == 1 then redis.call('HDEL', key.lock, field) end
        local other = owner == field and owner .. ':write' or owner
        if holds.count(other) == 0 then redis.call('HDEL', key.info, owner) end
    end
    holds.dropped(field, number)
    return number > 1
end

-- The same of a hold that lives; nil: there is none; false: its lease was over, and it is taken out.
function holds.find_living(...)
    local field, ends = holds.find(...)
    if not field then return nil end
    if holds.lives(field, ends) then return field, ends end
    holds.drop(field, call.id)
    return false
end
