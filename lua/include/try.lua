-- try.lua: requests that arrive late. A network may deliver one after the client has given up on it,
-- taken the lock by another, given it back, and ended.
--
-- Requests belong to a try: an attempt's id and a number. The client counts on when it gives a try
-- back, so that a try that was given back is over, whatever of it arrives later: a request to take it
-- takes nothing, one to give it back leaves later tries alone.
-- tombstone: hash {over: number of the last try that is over; code: see try_once.lua}. It stands where a request that was
-- never answered may still be on its way, or a later try has been made; for longer than the kernel sends a packet again
-- (tcp_retries2 of tcp(7): 15 minutes).
local OVER = -4 -- in answer to a request to take: the try was given back before it arrived
local try = {tombstone = call.tombstone, REMEMBER = 1200000}

function try.remember(field, number)
    redis.call('PEXPIRE', try.tombstone, try.REMEMBER) -- a first write that is allowed when memory is out
    redis.call('HSET', try.tombstone, field, number)
    redis.call('PEXPIRE', try.tombstone, try.REMEMBER)
end

-- True: this try was given back. A later one says so of those before it.
function try.is_over()
    local over = tonumber(redis.call('HGET', try.tombstone, 'over') or 0)
    if call.try > over + 1 then try.remember('over', call.try - 1) end
    return call.try <= over
end
