-- grant.lua: how `run` and `fair` are taken by a new holder.

-- INCR comes first: it is refused when memory is out, and a hole in the tokens harms nobody. The lock is the
-- last, with its lease at once.
-- leave(): out of the line; nil: nobody waits, and what stands beside the lock is not there.
local function grant(leave)
    local token = server.next_token()
    if leave then
        redis.call('DEL', key.info, key.hold)
        leave()
    end
    redis.call('HSET', key.info, call.owner, call.us())
    redis.call('PEXPIRE', key.info, call.lease_text)
    redis.call('HSET', key.hold, call.owner, token, call.id, call.lease_text)
    redis.call('PEXPIRE', key.hold, call.lease_text)
    redis.call('HSET', key.lock, call.owner, '1')
    redis.call('PEXPIRE', key.lock, call.lease_text)
    return {GRANTED, server.reply_token(token), call.lease}
end
