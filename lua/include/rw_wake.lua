-- rw_wake.lua: which waiters come in next: the writer that waits, or, where none does, all readers.
rw.MARKER_TTL = 6000 -- ms
rw.TELL, rw.TOLD_FOR = 2, 1000 -- readers at once; ms

-- Each writer that sends heartbeats keeps the marker, of which the first in line has the name.
function rw.mark(place)
    if place == 1 or redis.call('PEXPIRE', rw.marker, rw.MARKER_TTL) == 0 then
        redis.call('SET', rw.marker, call.owner, 'PX', rw.MARKER_TTL)
    end
end

-- The writer that waited goes; the next one's marker stands in its place.
function rw.pass_marker_on(owner)
    local heir = redis.call('ZRANGE', rw.writers.waiters, '0', '0')[1]
    if heir and heir ~= owner then
        redis.call('SET', rw.marker, heir, 'PX', rw.MARKER_TTL)
    else
        redis.call('DEL', rw.marker)
    end
end

-- Tells the next readers in line, behind those that were told before. Each that comes tells the next: all are in soon,
-- though no script tells more than a few. A stopped one holds up nobody: two go on for each that comes.
function rw.tell_readers()
    local before = redis.call('GET', rw.told)
    local some = redis.call('ZRANGEBYSCORE', key.waiters, before and '(' .. before or '-inf', '+inf', 'WITHSCORES',
        'LIMIT', 0, waiters.A_FEW)
    if #some == 0 then return before and redis.call('DEL', rw.told) end
    local told, last = 0, nil
    for i = 1, #some, 2 do
        last = some[i + 1]
        told = told + (server.tell(some[i], '0') and 1 or 0)
        if told == rw.TELL then break end
    end
    redis.call('SET', rw.told, last, 'PX', rw.TOLD_FOR)
end

-- Of the writers one that listens; else readers. A marker holds nobody back when no writer hears: they are dead, or mark
-- again when they come. Of many it is left to its end.
function rw.wake()
    if waiters.wake(rw.writers) then return end
    if redis.call('ZCARD', rw.writers.waiters) > waiters.A_FEW and redis.call('GET', rw.marker) then return end
    redis.call('DEL', rw.marker, rw.told)
    rw.tell_readers()
end
