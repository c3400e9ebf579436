-- sem_grant.lua: how permits are given to a new holder, leased or plain: sem.lua.

-- take(): puts the permits into the caller's name, and returns how many: not those that stand there already, whose hold
-- expired before the server's clock was set back. ms: for so long, as text, for Lua says numbers slowly.
-- leave(): out of the line.
function sem.grant(ms, take, leave)
    local left = redis.call('PTTL', key.lock)
    local token = server.next_token()
    sem.note(token)
    local taken = take()
    if taken > 0 then redis.call('INCRBY', key.lock, '-' .. taken) end
    -- Redisson's expire() of a semaphore is one of its permits, too.
    if left > 0 then redis.call('PEXPIRE', sem.permits, left) end
    redis.call('HSET', key.info, call.owner, call.us(token))
    sem.expire(ms)
    if leave then leave() end
    return {GRANTED, server.reply_token(token), tonumber(ms)}
end
