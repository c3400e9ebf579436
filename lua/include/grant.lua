-- grant.lua: how `run`, `fair`, `read` and `write` are taken by a new holder.

-- INCR comes first: it is refused when memory is out, and a hole in the tokens harms nobody. The lock is the
-- last, with its expiry at once.
-- left: ms for which others hold it, too; nil: it is free. count(): in the lock's hash; nil: as its only
-- field. leave(): out of the line; nil: nobody waits, and nothing stands beside a lock that is free.
local function grant(field, left, count, leave)
    local leases, token = KEYS[4], server.next_token()
    local ms = left and left > call.lease and left or call.lease_text
    if leave then
        if not left then redis.call('DEL', key.info, leases) end
        leave()
    end
    redis.call('HSET', key.info, call.owner, call.us(token))
    redis.call('PEXPIRE', key.info, ms)
    redis.call('ZADD', leases, server.after(call.lease), field .. ' ' .. call.id)
    redis.call('PEXPIRE', leases, ms)
    if count then count(field, not left) else redis.call('HSET', key.lock, field, '1') end
    redis.call('PEXPIRE', key.lock, ms)
    return {GRANTED, server.reply_token(token), call.lease}
end
