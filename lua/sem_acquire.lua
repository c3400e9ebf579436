-- include: base clock rights rights_sem sem_permit
-- Takes permits, leased or plain, all that are asked for or none. KEYS and ARGV: base.lua, sem.lua.
-- Reply: mutex_acquire.lua ({BUSY, ms until the next lease ends...}), and
--       {REFUSED, 0, 0, why}: users disagree about how many there are; or there is none yet
local rights_of = 'sem'
-- include: rights_ask
local lasts, put, finish = ARGV[2], nil, nil
-- Nearly always: it is one permit with a lease, there is one, nobody has died, and nobody waits.
-- What has ten digits is no lease.
local is_simple = not ARGV[10] and ARGV[4] == '1' and string.sub(ARGV[3], 33) == '.1' and #ARGV[2] < 10
local is_alone = is_simple and redis.call('EXISTS', KEYS[4], KEYS[5], KEYS[8], KEYS[#KEYS]) == 0
if is_alone then
    is_simple = redis.pcall('GET', KEYS[1]) == ARGV[9] and ARGV[9] ~= ''
elseif is_simple and redis.call('EXISTS', KEYS[5], KEYS[#KEYS]) == 0 then
    local known = redis.call('HMGET', KEYS[4], string.sub(ARGV[3], 1, 32), 'plain', 'latch')
    local available = redis.pcall('GET', KEYS[1])
    is_simple = not known[1] and not known[3] and type(available) == 'string' and string.find(available, '^[1-9]%d*$')
        and redis.call('ZCOUNT', KEYS[8], '-inf', now_text) == 0
        and tonumber(known[2] or 0) + redis.call('ZCARD', KEYS[8]) + available == tonumber(ARGV[9])
else
    is_simple = false
end
if not is_simple then
    -- include: call server tell token sem try front waiters waiting acquire
    -- include: sem_leases sem_hex sem_dead sem_waiters sem_take
    local available = sem.available()
    if available == false then return {WRONG_KIND, 0, 0} end
    if try.is_over() then return {OVER, 0, 0} end
    local held, ours, ends = sem.ours()
    if held == call.permits then -- this very attempt was granted, and its answer lost
        sem.renew(ours, ends)
        return {GRANTED, server.reply_token(sem.token()), call.lease}
    end
    for _ = 0, math.ceil(call.permits / sem.PART) do -- of many that died at once a part: waiters come again soon
        local dead, rest = sem.collect()
        if dead > 0 then call.has_cleaned, available = true, rest end
        if dead < sem.PART or not available or available >= call.permits then break end
    end
    local refused
    available, refused = sem.set_up(available)
    if not available then return refused end
    if not sem.fits(available) then return sem.busy(sem.next_end()) end
    function put()
        if call.plain then return sem.count_plain(call.permits) end
        return sem.put(sem.ids(call.id, call.permits), server.after(call.lease))
    end
    function finish() sem.pass_on(call.owner) end -- Redisson wakes only the first: each the next
end

-- include: next_token
-- From here on as in grant.lua: there are no functions.
-- put(): puts the permits into the caller's name, and returns how many: not those that stand there already, whose hold
-- expired before the server's clock was set back; nil: it is one with a lease. lasts: ms, as text, for Lua says
-- numbers slowly. is_alone: nobody else has any  finish(): out of the line
local id, left, stands_for = string.sub(ARGV[3], 1, 32), redis.call('PTTL', KEYS[1]), lasts
redis.call('HSET', KEYS[4], id, token_text .. ' ' .. ARGV[1], ARGV[1], token_text .. ' ' .. id .. ' ' .. ARGV[4])
local taken
if put then taken = put() else taken = redis.call('ZADD', KEYS[8], string.format('%d', now + lasts), permit_of(id)) end
if taken > 0 then redis.call('INCRBY', KEYS[1], '-' .. taken) end
if left > 0 then redis.call('PEXPIRE', KEYS[8], left) end -- Redisson's expire() of a semaphore is one of its permits, too
redis.call('HSET', KEYS[3], ARGV[1], shown)
if not is_alone then stands_for = math.max(redis.call('PTTL', KEYS[4]), tonumber(lasts)) end -- see sem.expire()
redis.call('PEXPIRE', KEYS[3], stands_for)
redis.call('PEXPIRE', KEYS[4], stands_for)
if finish then finish() end
return {GRANTED, token, tonumber(lasts)}
