-- rw_take.lua: how `read` and `write` take the hash that they share.

-- A new holder. Order and rights: see mutex_take.lua.
function rw.grant(field, mode)
    local refusal = server.denies('DEL') or server.denies('HGETALL') or server.denies('HDEL', '')
        or server.denies('HINCRBY', '', '') or server.denies('HSET', '', '') or server.denies('ZRANGE', '', '')
    if refusal then return refusal end
    local token = server.next_token()
    local lease = math.max(redis.call('PTTL', key.lock), call.lease)
    redis.call('PEXPIRE', key.lock, lease)
    line.leave_granted(line)
    rw.pass_marker_on(call.owner)
    if not mode then redis.call('DEL', key.info, key.hold) end
    rw.add(field)
    if not mode then
        redis.call('HSET', key.lock, 'mode', field == call.owner and 'read' or 'write')
    end
    redis.call('HSET', key.hold, call.owner, token)
    acquire.describe_us()
    server.expire(lease)
    return {code.GRANTED, server.reply_token(token), call.lease}
end

-- For who waits or re-enters, besides what has been called by then.
function rw.rights()
    return {{'DEL', 'GET', 'HGETALL', 'INCR', 'PTTL', 'ZCARD'},
        {'HDEL', 'PEXPIRE', 'RENAME', 'SET', 'ZRANK', 'ZREM', 'ZSCORE'},
        {'HINCRBY', 'HSET', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE'}}
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
        server.reply_token(redis.call('HGET', key.hold, owner)), call.lease}
end

function rw.reenter(field)
    local refusal = server.denies_any(rw.rights())
    if refusal then return refusal end
    rw.add(field)
    server.prolong(call.lease)
    line.leave_granted(line)
    rw.pass_marker_on(call.owner)
    return {code.REENTERED, server.reply_token(ARGV[7]), call.lease}
end
