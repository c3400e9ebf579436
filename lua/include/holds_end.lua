-- holds_end.lua: holds that are over, and for how long the rest stands: holds.lua.

-- Takes out a few that are over, of an owner that has more of them one. Returns whether there were any.
function holds.bury()
    local first, any = redis.call('ZRANGE', holds.leases, '0', holds.A_FEW - 1, 'WITHSCORES'), false
    for i = 1, #first, 2 do
        if tonumber(first[i + 1]) > server.now then break end
        any = true
        if holds.drop(string.match(first[i], '^(.*) (%x+)$')) then break end
    end
    return any
end

-- For how long the last of them stands, ms; nil: none does. Of a lock that was deleted by hand they still stand in
-- leases, and somebody else's may be in it: a few of those go, and of more nothing is known.
function holds.longest()
    for _ = 0, holds.A_FEW do
        local last = redis.call('ZRANGE', holds.leases, '-1', '-1', 'WITHSCORES')
        local left = last[1] and last[2] - server.now or 0
        if left <= 0 then return nil end
        if holds.count(holds.field_of(last[1])) > 0 then return left end
        holds.drop(string.match(last[1], '^(.*) (%x+)$'))
    end
    local left = redis.call('PTTL', key.lock)
    return left > 0 and left or nil
end

-- After some have ended: the keys stand for as long as the longest that remains, see holds.longest().
function holds.settle(left)
    if left then holds.expire(left) else redis.call('DEL', key.info, holds.leases) end
end
