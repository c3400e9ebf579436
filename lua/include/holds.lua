-- holds.lua: the holds of `run`, `fair`, `read` and `write`, each of which ends by itself.
--
-- lock: Redisson's hash {FIELD: holds}. FIELD is OWNER, and OWNER:write in a lock that is held for writing;
--       what --min-hold keeps is nobody's any more, and stands under OWNER#kept
-- KEYS  4 leases: zset {"FIELD ID": epoch ms at which the lease of that hold ends}; none of Redisson's are in it
-- info: hash {OWNER: JSON}, the token of the owner's holds first: token.lua
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

-- What `read` and `write` do beside that: rw.lua, rw_leases.lua. changed(): the hold with that id has come or lasts
-- longer, or has gone before its lease was over.
function holds.stands(field) return holds.count(field) > 0 end
function holds.changed() end
function holds.dropped() end
function holds.left_beside() return 0 end
