-- rw_take.lua: how `read` and `write` take the hash that they share.
rw.A_SAMPLE, rw.A_FEW_STRANGERS, rw.STRANGE_HOLDS, rw.MANY = 16, 3, 3, 8

local fields, ours -- when the script begins: of the lock, and how many of rlock's have it

-- Whose hash it is: of a hash that is not rlock's at all a few fields tell.
local function is_lock()
    if fields == 1 or ours > 0 then return true end -- 1: the last has just gone
    for _, field in ipairs(redis.call('HRANDFIELD', key.lock, rw.A_SAMPLE)) do
        if server.is_owner(field) then return true end
    end
    return false
end

-- 'read', 'write'; nil when it is free, false when the key is something else.
-- left: ms until it expires, -1: never, -2: it is free.
function rw.mode(left)
    if left == -2 then return nil end
    local mode = redis.pcall('HGET', key.lock, 'mode')
    if type(mode) == 'table' then return server.is_wrong_kind(mode) end
    if mode ~= 'read' and mode ~= 'write' then return false end
    fields, ours = redis.call('HLEN', key.lock), redis.call('HLEN', key.info)
    return is_lock() and mode
end

-- Whether all the leases of such a reader are over. They are not asked for if there are too many.
local function is_dead(field, holds)
    if holds > rw.STRANGE_HOLDS then return false end
    for i = holds, 1, -1 do
        if redis.call('PTTL', rw.lease_key(field, i)) ~= -2 then return false end
    end
    return true
end

-- Redisson's readers are looked at a few at a time, whoever comes. It numbers its holds itself: of one reader's
-- all go or none.
local function drop_strangers()
    local some, dead = redis.call('HRANDFIELD', key.lock, rw.A_FEW_STRANGERS, 'WITHVALUES'), {}
    for i = 1, #some, 2 do
        local field, holds = some[i], tonumber(some[i + 1])
        if holds and not rw.is_write(field) and not redis.call('ZSCORE', rw.leases, field .. ':1')
            and is_dead(field, holds) then
            dead[#dead + 1] = field
        end
    end
    return #dead > 0 and redis.call('HDEL', key.lock, unpack(dead)) > 0
end

-- Takes out a few of what the dead left. Returns the mode, nil when nobody is left; for how long it stands;
-- true: there may be more of them.
function rw.sweep(mode, left)
    if call.has_cleaned then return mode, left, true end
    local swept = rw.bury() or mode == 'read' and rw.has_strangers(mode, fields, ours) and drop_strangers()
    if not swept then return mode, left, false end
    call.has_cleaned, mode, left = true, rw.settle()
    return mode, left or 0, true
end

-- Someone that holds it, of rlock's the one who holds it for longest.
function rw.holder()
    local last = redis.call('ZRANGE', rw.leases, '-1', '-1')[1]
    if last then return rw.owner_of((string.gsub(last, ':%d+$', ''))) end
    local some = redis.call('HRANDFIELD', key.lock, '2')
    return rw.owner_of(some[1] == 'mode' and some[2] or some[1] or '')
end

-- Of many holds, one in the other, some live.
function rw.lives(field)
    local holds = rw.count(field)
    for i = 1, math.min(holds, rw.MANY) do
        if rw.alive(field, i) then return true end
    end
    return holds > rw.MANY
end

-- The owner of an enclosing hold, for reading or writing; nil without the proof of it.
function rw.around()
    local owner = acquire.proof()
    return owner and (rw.lives(owner) or rw.lives(rw.write_field(owner))) and owner or nil
end

-- This very attempt was granted, and its answer lost: the same answer again, from now on. Else nil, and
-- the mode that remains.
function rw.granted_before(mode)
    local field, i, holds = rw.find(call.owner, call.proof_owner)
    if not field then return nil, mode end
    if not rw.alive(field, i) then -- a new attempt
        call.has_cleaned = true
        rw.drop(field, i, holds)
        return nil, rw.settle()
    end
    rw.renew(field, i)
    local owner = rw.owner_of(field)
    return {owner == call.owner and GRANTED or REENTERED,
        server.reply_token(redis.call('HGET', key.hold, owner)), call.lease}
end

-- What a request meets: the answer that it was given before; or nil, and what rw.sweep() says.
function rw.meet(mode, left)
    local answer
    if mode then answer, mode = rw.granted_before(mode) end
    if answer or not mode then return answer, mode, left end
    return nil, rw.sweep(mode, left)
end

function rw.reenter(field, left, at)
    local place = rw.count_one(field, call.lease)
    redis.call('HSET', key.hold, call.id, place, place, call.id)
    rw.expire(math.max(left, call.lease))
    waiters.leave_granted(at)
    return {REENTERED, server.reply_token(call.proof_token), call.lease}
end
