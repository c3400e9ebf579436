-- sem_take.lua: how permits are taken, leased or plain. ARGV 13: how many there are in all.

-- For who waits, or sets it up, besides what has been called by then.
function sem.rights()
    return {{'GET', 'HKEYS', 'INCR', 'PTTL', 'ZCARD'},
        {'HDEL', 'INCRBY', 'PEXPIRE', 'SET', 'ZRANK', 'ZREM', 'ZSCORE'}, {'HSET', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE'}}
end

local function refuse(why, ...) return nil, {code.REFUSED, 0, 0, string.format(why, ...)} end

-- Whether all agree on how many there are. Who waits may have come before it was resized. Where plain
-- ones are used Redisson's clients may have taken more than is known.
local function agree(available, in_use)
    local total, expected = available + in_use, tonumber(ARGV[13])
    if ARGV[15] ~= '' then return available end
    if expected and expected ~= total and not (call.plain and expected > total) then
        return refuse('it has %d permits, not %d: all users agree on --permits, and --resize changes it',
            total, expected)
    end
    if call.permits > total and not call.plain then
        return refuse('it has %d permits, and --take asks for %d', total, call.permits)
    end
    return available
end

-- Sets the semaphore up where it is missing. Returns how many are available, or nil and the answer.
function sem.set_up()
    local total, in_use = tonumber(ARGV[13]), sem.in_use()
    local available = sem.available()
    if available then return agree(available, in_use) end
    if not total then return refuse('it does not exist yet: say with --permits how many there are') end
    local refusal = server.denies_any(sem.rights())
    if refusal then return nil, refusal end
    redis.call('SET', key.lock, total - in_use)
    server.tell_all(total - in_use)
    return total - in_use
end

-- The caller's place; behind its name stands what it wants.
function sem.place()
    local place, waiting, again_ms, ticket = line.place(line)
    if ARGV[8] == '1' and call.permits > 1 then
        redis.pcall('HSET', key.hold, call.owner, call.permits)
        sem.expire(0)
    end
    return place, waiting, again_ms, ticket
end

-- Someone that holds permits; '' when nobody is known to.
function sem.holder()
    return redis.call('HKEYS', key.info)[1] or ''
end

-- take(): puts the permits into the caller's name, for so many ms. Order and rights: see mutex_take.lua.
function sem.grant(ms, take)
    local refusal = server.denies('PTTL') or server.denies('INCRBY', '') or server.denies('PEXPIRE', '')
        or server.denies('HSET', '', '') or server.denies('ZADD', '', '') or server.denies('ZRANGE', '', '')
    if refusal then return refusal end
    local waited = redis.call('ZSCORE', key.waiters, call.owner)
    local token = server.next_token()
    sem.leave(call.owner)
    redis.call('INCRBY', key.lock, -call.permits)
    take()
    redis.call('HSET', key.hold, call.id, token .. ' ' .. call.owner)
    acquire.describe_us()
    sem.expire(ms)
    if waited then
        sem.tell_first()
        sem.wake(1) -- Redisson wakes only the first: each the next
    end
    return {code.GRANTED, server.reply_token(token), ms}
end
