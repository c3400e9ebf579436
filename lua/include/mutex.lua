-- mutex.lua: the one hash of `run` and `fair`: {owner: holds}; beside it
-- hold: {owner: token, hold id: lease ms, 'until': see mutex_release}.
local mutex = {}

-- The one field of a mutex; nil when it is free, false when the key is something else.
-- left: ms until it expires, -1: never, -2: it is free.
function mutex.holder(left)
    if left == -2 then return nil end
    local field = redis.pcall('HRANDFIELD', key.lock, '2', 'WITHVALUES')
    if field.err then return server.is_wrong_kind(field) end
    return #field == 2 and server.is_owner(field[1]) and string.find(field[2], '^[1-9]%d*$') and field[1] or false
end

-- How many holds an owner has; false: none, or the key is something else.
function mutex.holds(owner)
    local holds = redis.pcall('HGET', key.lock, owner)
    return type(holds) == 'table' and server.is_wrong_kind(holds) or holds
end

-- What was said of these owners beside the lock, and their attempt, is said of nobody now. No right to
-- do so must not hide that the lock is lost: what is left expires.
function mutex.forget(...)
    redis.pcall('HDEL', key.info, ...)
    redis.pcall('HDEL', key.hold, ...)
end
