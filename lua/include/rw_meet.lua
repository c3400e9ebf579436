-- rw_meet.lua: what a request to take `read` or `write` meets.

-- The answer to one that has none to expect, the lock's mode and PTTL, and the writer that waits.
function rw.arrive()
    local ttl, writer = redis.call('PTTL', key.lock), redis.call('GET', rw.marker)
    local mode = rw.mode(ttl)
    if mode == false then return {WRONG_KIND, 0, 0} end
    return try.is_over() and {OVER, 0, 0}, mode, ttl, writer
end

-- One of the holders; of rlock's the one whose lease ends last.
function rw.holder()
    local last = redis.call('ZRANGE', holds.leases, '-1', '-1')[1]
    if last then return holds.owner_of(holds.field_of(last)) end
    local some = some_fields(2)
    return holds.owner_of(some[1] == 'mode' and some[3] or some[1] or '')
end

-- What a request meets: the answer that it was given before; or nil, and what rw.sweep() says.
-- ...: the fields under which it may have been taken.
function rw.meet(mode, left, ...)
    if not mode then return nil, mode, left end
    local before = holds.again(...)
    if before then return before end
    if before == false then -- it was, but too long ago
        call.has_cleaned = true
        mode = rw.settle()
        if not mode then return nil, mode, left end
    end
    return nil, rw.sweep(mode, left)
end
