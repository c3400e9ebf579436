-- try.lua: requests that arrive late. A network may deliver one after the client has given up on it,
-- taken the lock by another, given it back, and ended.
--
-- Requests belong to a try: an attempt's id and a number. The client counts on when it gives a try
-- back, so that a try that was given back is over, whatever of it arrives later: a request to take it
-- takes nothing, one to give it back leaves later tries alone.
-- tombstone: hash {over: number of the last try that is over; code: see try.once()}. It stands where a request that was
-- never answered may still be on its way, or a later try has been made; for longer than the kernel sends a packet again
-- (tcp_retries2 of tcp(7): 15 minutes).
local try = {tombstone = call.tombstone, REMEMBER = 1200000}

local function remember(field, number)
    redis.call('PEXPIRE', try.tombstone, try.REMEMBER) -- a first write that is allowed when memory is out
    redis.call('HSET', try.tombstone, field, number)
    redis.call('PEXPIRE', try.tombstone, try.REMEMBER)
end

-- True: this try was given back. A later one says so of those before it.
function try.is_over()
    local over = tonumber(redis.call('HGET', try.tombstone, 'over') or 0)
    if call.try > over + 1 then remember('over', call.try - 1) end
    return call.try <= over
end

-- What is changed without being held, a count, changes once: a request that is sent again, or arrives late, is told
-- what the first was told, and changes nothing. change() returns its answer; code: of the first. Something is written
-- for the others as well: the replicas that acknowledge it have all that was written before.
function try.once(change, repeated)
    local code = redis.call('HGET', try.tombstone, 'code')
    local answer = code and repeated(tonumber(code)) or change()
    remember('code', answer[1])
    return answer
end

-- give_back() does it, and answers, unless the try is over: then nothing is left to be done.
function try.give_back(give_back)
    if try.is_over() then return {LOST, 0, 0} end
    local answer = give_back()
    if call.is_astray then remember('over', call.try) end
    return answer
end
