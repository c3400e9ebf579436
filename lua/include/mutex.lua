-- mutex.lua: the one hash of `run` and `fair`: {owner: holds}; beside it
-- hold: {owner: token, hold id: lease ms, 'until': see mutex_release}.
local mutex = {}

-- The one field of a mutex; nil when it is free, false when the key is something else.
function mutex.holder()
    local kind = redis.call('TYPE', key.lock).ok
    if kind == 'none' then return nil end
    if kind ~= 'hash' or redis.call('HLEN', key.lock) ~= 1 then return false end
    local field = redis.call('HGETALL', key.lock)
    return server.is_owner(field[1]) and string.find(field[2], '^[1-9]%d*$') and field[1] or false
end

-- What was said of these owners beside the lock, and their attempt, is said of nobody now. No right to
-- do so must not hide that the lock is lost: what is left expires.
function mutex.forget(...)
    redis.pcall('HDEL', key.info, ...)
    redis.pcall('HDEL', key.hold, ...)
end
