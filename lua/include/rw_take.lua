-- rw_take.lua: how `read` and `write` take the hash that they share.

-- A new holder. Order: see mutex_take.lua.
function rw.grant(field, mode)
    local number = redis.call('INCR', key.token)
    redis.call('PEXPIRE', key.lock, math.max(redis.call('PTTL', key.lock), call.lease))
    if not mode then
        redis.call('DEL', key.info, key.hold)
        redis.call('HSET', key.lock, 'mode', field == call.owner and 'read' or 'write')
    end
    redis.call('HSET', key.hold, call.owner, number)
    acquire.describe_us()
    rw.expire(call.lease) -- from the first field on: a right that is missing leaves nothing for ever
    rw.add(field)
    redis.call('ZREM', key.waiters, call.owner)
    rw.pass_marker_on(call.owner)
    return {code.GRANTED, number, call.lease}
end

-- The owner of an enclosing hold, for reading or writing; nil without the proof of it.
function rw.around()
    local owner = acquire.proof()
    return owner and (rw.count(owner) > 0 or rw.count(rw.write_field(owner)) > 0) and owner or nil
end

-- This very attempt was granted, and its answer lost: the same answer again, from now on. Else nil.
function rw.granted_before()
    local field, i, holds = rw.locate(call.owner, ARGV[6])
    if not field then return nil end
    if not rw.alive(field, i) then -- a new attempt
        rw.drop(field, i, holds)
        return nil
    end
    rw.renew(field, i)
    local owner = rw.owner_of(field)
    return {owner == call.owner and code.GRANTED or code.REENTERED,
        tonumber(redis.call('HGET', key.hold, owner)), call.lease}
end

function rw.reenter(field)
    rw.add(field)
    redis.call('ZREM', key.waiters, call.owner)
    rw.pass_marker_on(call.owner)
    return {code.REENTERED, tonumber(ARGV[7]), call.lease}
end
