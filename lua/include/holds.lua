-- holds.lua: the holds of `run`, `fair`, `read` and `write`, each of which ends by itself.
--
-- lock: Redisson's hash {FIELD: holds}. FIELD is OWNER, and OWNER:write in a lock that is held for writing;
--       what --min-hold keeps is nobody's any more, and stands under OWNER#kept
-- KEYS  4 leases: zset {"FIELD ID": epoch ms at which the lease of that hold ends}; none of Redisson's are in it
-- info: hash {OWNER: JSON}, the token of the owner's holds first: clock.lua
local holds = {leases = KEYS[4], A_FEW = 2, KEPT_ID = '0'}

function holds.owner_of(field) return (string.gsub(field, ':write$', '')) end

-- Of a member of the leases.
function holds.field_of(member) return string.match(member, '^(.*) ') end

function holds.is_write(field) return string.sub(field, -6) == ':write' end

-- Under whose name stands what --min-hold keeps.
function holds.kept_by(owner) return owner .. '#kept' end

-- How many holds a field has; 0 also where the lock has become something else.
function holds.count(field)
    return tonumber(server.typed('HGET', key.lock, field) or 0) or 0
end

-- The first of these fields that the call's hold is under, and when its lease ends, which may be past; nil: none.
function holds.find(...)
    for _, field in ipairs({...}) do
        local ends = redis.call('ZSCORE', holds.leases, field .. ' ' .. call.id)
        if ends then return field, tonumber(ends) end
    end
end

function holds.lives(field, ends)
    return field and ends > server.now and holds.stands(field)
end

-- The same of a hold that lives; nil: there is none; false: its lease was over, and it is taken out.
function holds.find_living(...)
    local field, ends = holds.find(...)
    if not field then return nil end
    if holds.lives(field, ends) then return field, ends end
    holds.drop(field, call.id)
    return false
end

-- For how long the keys stand, ms.
function holds.expire(ms)
    for _, each in ipairs({key.lock, key.info, holds.leases}) do redis.call('PEXPIRE', each, ms) end
end

-- The lease of a field's hold, its last: as long as that, ms.
function holds.lease(field, id, number, ms)
    redis.call('ZADD', holds.leases, server.after(ms), field .. ' ' .. id)
    holds.added(field, id, number, ms)
end

-- One hold more.
function holds.add(field, ms)
    holds.lease(field, call.id, redis.call('HINCRBY', key.lock, field, '1'), ms)
end

-- A whole lease from now on, or as long as before if that is longer. An expiry comes first: it is allowed when memory
-- is out, and after it the other commands are.
function holds.renew(field, ends)
    holds.expire(math.max(redis.call('PTTL', key.lock), call.lease))
    local until_ms = string.format('%d', math.max(ends, server.now + call.lease))
    redis.call('ZADD', holds.leases, until_ms, field .. ' ' .. call.id)
    holds.renewed(field)
end

-- One hold less, if it is there. An owner without any proves nothing, and its name is not asked for. Returns whether the
-- field has more.
function holds.drop(field, id)
    local number, owner = holds.count(field), holds.owner_of(field)
    if redis.call('ZREM', holds.leases, field .. ' ' .. id) == 0 then return number > 0 end
    if number > 1 then
        redis.call('HINCRBY', key.lock, field, '-1')
    else
        if number == 1 then redis.call('HDEL', key.lock, field) end
        local other = owner == field and owner .. ':write' or owner
        if holds.count(other) == 0 then redis.call('HDEL', key.info, owner) end
    end
    holds.dropped(field, id, number)
    return number > 1
end

-- Takes out a few that are over, of an owner that has more of them one. Returns whether there were any.
function holds.bury()
    local dead = redis.call('ZRANGEBYSCORE', holds.leases, '-inf', server.now_text, 'LIMIT', '0', holds.A_FEW)
    for _, member in ipairs(dead) do
        if holds.drop(string.match(member, '^(.*) (%x+)$')) then break end
    end
    return #dead > 0
end

-- For how long the last of them stands, ms; nil: none does. Of a lock that was deleted by hand they still stand in
-- leases, and may be somebody else's in it.
function holds.longest()
    local last = redis.call('ZRANGE', holds.leases, '-1', '-1', 'WITHSCORES')
    local left = last[1] and last[2] - server.now or 0
    return left > 0 and holds.count(holds.field_of(last[1])) > 0 and left or nil
end

-- After some have ended: the keys stand for as long as the longest that remains. Returns what longest() does.
function holds.settle()
    local left = holds.longest()
    if left then holds.expire(left) else redis.call('DEL', key.info, holds.leases) end
    return left
end

-- For how long an owner's holds last, ms: the longest of them. 0: it has none. Only the last leases are looked at: in a
-- lock that is held for writing all but two are that owner's.
function holds.left_of(owner)
    local last = redis.call('ZRANGE', holds.leases, -16, -1, 'WITHSCORES')
    for i = #last - 1, 1, -2 do
        local field = holds.field_of(last[i])
        if holds.owner_of(field) == owner then
            return holds.count(field) > 0 and math.max(last[i + 1] - server.now, 0) or 0
        end
    end
    return holds.left_beside(owner)
end

-- What `read` does beside that: rw_holds.lua.
function holds.stands(field) return holds.count(field) > 0 end
function holds.added() end
function holds.renewed() end
function holds.dropped() end
function holds.left_beside() return 0 end
