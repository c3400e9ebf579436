-- rw_meet.lua: what a request to take `read` or `write` meets.

-- One of the holders; of rlock's the one whose lease ends last.
function rw.holder()
    local last = redis.call('ZRANGE', holds.leases, '-1', '-1')[1]
    if last then return holds.owner_of(holds.field_of(last)) end
    local some = some_fields(2)
    return holds.owner_of(some[1] == 'mode' and some[3] or some[1] or '')
end

-- What a request meets: the answer that it has already; or nil or false, the lock's mode and for how long it stands, the
-- writer that waits, and the owner around the caller that holds it. reads: it comes in beside readers.
-- ...: the fields under which it may have been taken.
function rw.meet(reads, ...)
    local left, writer = redis.call('PTTL', key.lock), redis.call('GET', rw.marker)
    local mode = rw.mode(left)
    if mode == false then return {WRONG_KIND, 0, 0} end
    if try.is_over() then return {OVER, 0, 0} end
    call.has_cleaned = reads and call.came_back and mode == 'read' and not writer -- it tells the next: enough
    local before = mode and holds.again(...)
    if before then return before end
    if before == false then -- it was, but too long ago
        call.has_cleaned = true
        mode, left = rw.settle()
    end
    if mode then mode, left = rw.sweep(mode, left) end
    local around = mode and holds.around()
    return not around and holds.apart(), mode, left, writer, around
end
