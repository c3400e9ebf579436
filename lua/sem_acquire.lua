-- include: base clock rights rights_sem sem_permit
-- Takes leased permits, all that are asked for or none. KEYS and ARGV: base.lua, sem.lua.
-- Reply: mutex_acquire.lua ({BUSY, ms until the next lease ends...}), and
--       {REFUSED, 0, 0, why}: users disagree about how many there are; or there is none yet
local rights_of = 'sem'
-- include: rights_ask
local lasts, put, finish = ARGV[2], nil, nil
-- Nearly always: it is one permit, there is one, nobody has died, and nobody waits.
local is_simple = not ARGV[10] and ARGV[4] == '1' and string.sub(ARGV[3], 33) == '.1'
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
    -- include: call server tell token sem try front waiters waiting acquire sem_leases sem_dead sem_waiters sem_take
    local available = sem.available()
    if available == false then return {WRONG_KIND, 0, 0} end
    if try.is_over() then return {OVER, 0, 0} end
    local ours, ends = sem.ours()
    if #ours == call.permits then -- this very attempt was granted, and its answer lost
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
    function put() return sem.put(sem.ids(call.id, call.permits), server.after(call.lease)) end
    finish = sem.leave_granted
end

-- include: next_token sem_grant
