-- sem.lua: a semaphore with leased permits, Redisson's: lock is a string, the permits available;
-- beside it
-- KEYS  8 permits: zset {permit id, 16 bytes: epoch ms at which its lease ends}
--       9 wants: hash {waiter: permits it asks for, when more than one}
-- hold: {hold id: "token owner", or "- owner" when it is left held without one,
--        owner: the same, "token hold-id permits", 'plain': how many plain ones are in use;
--        'latch': it is a latch, latch.lua}
local sem = {
    permits = KEYS[8], wants = KEYS[9],
    PART = 2000, -- so many permits at once: Lua can't pass many more
}

call.permits = tonumber(ARGV[4])

-- What is known of the call's hold, and how many plain permits are in use; those that Redisson's clients
-- have taken are written nowhere. is_latch: if there is a number at all.
local hold, plain, is_latch = unpack(redis.call('HMGET', key.hold, call.id, 'plain', 'latch'))

-- nil: it was never set up, or was lost; false: the key is something else.
function sem.available()
    local text = server.typed('GET', key.lock)
    if text == nil or text and is_latch then return false end
    if not text then return nil end
    return #text <= 16 and string.find(text, '^-?%d+$') and tonumber(text) or false
end

-- The first of a hold's permits: its id, as bytes.
function sem.permit(hex)
    return struct.pack('>I4I4I4I4', tonumber(string.sub(hex, 1, 8), 16), tonumber(string.sub(hex, 9, 16), 16),
        tonumber(string.sub(hex, 17, 24), 16), tonumber(string.sub(hex, 25, 32), 16))
end

-- nil: the call has no hold, or gave it back.
function sem.token() return string.match(hold or '', '^%d+') end

-- Writes down whose the call's hold is; token: '-' when it is left held.
function sem.note(token)
    redis.call('HSET', key.hold, call.id, token .. ' ' .. call.owner,
        call.owner, token .. ' ' .. call.id .. ' ' .. call.permits)
end

-- Never sooner than they would have ended.
function sem.expire(ms)
    local left = redis.call('PTTL', key.hold)
    if left > tonumber(ms) then ms = left end
    redis.call('PEXPIRE', key.info, ms)
    redis.call('PEXPIRE', key.hold, ms)
end

-- How permits are given to a new holder, leased or plain.
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
