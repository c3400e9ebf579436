-- rights.lua: what the caller's user may not do.

-- What is needed later is asked for before anything is written. The answer for who has no right to a
-- command, given with as many words behind the key as it takes; nil: it may come.
local may = redis.acl_check_cmd or function() return true end -- Redis 6 can't be asked
function server.denies(command, ...)
    if not may(command, key.lock, ...) then
        return redis.error_reply('NOPERM this user has no right to ' .. command)
    end
end
