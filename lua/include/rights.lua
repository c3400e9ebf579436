-- rights.lua: the commands that the scripts of a kind run on its keys. rlock-server(7), ACCESS CONTROL, has the same lists.
-- {kind: function(can, k), which asks can(COMMAND, k...) for each until one is denied, and returns whether none was}:
-- rights_mutex.lua and so on, which stand behind this. As many words stand behind a command as it takes at least: of one
-- with fewer Redis 8 says nothing.
local rights = {}

-- With --fsync the server must have WAITAOF, which came with Redis 7.2, and one that tells the truth: Redis 7.4, and
-- Valkey up to 9.1 at least, answer before a flush under appendfsync everysec (redis/redis#13793).
local function flush_fault()
    local version = redis.REDIS_VERSION_NUM or 0
    if redis.VALKEY_VERSION_NUM or version >= 0x070400 and version < 0x080000 then return 'WAITAOF: early' end
    return version < 0x070200 and 'WAITAOF: missing'
end

-- What to answer a user that lacks a right, or where the server has renamed a command, or lacks it.
local function say_missing(kind, known)
    local missing
    rights[kind](function(command, ...)
        local has, may = pcall(redis.acl_check_cmd, command, ...)
        missing = command
        return has and (may or not known)
    end, KEYS[1])
    return redis.error_reply(known and 'NOPERM this user has no right to ' .. missing
        or "ERR unknown command '" .. missing .. "'")
end

-- Checked by the first request over a connection, before it changes anything. The answer to a user who lacks a
-- right; nil: go on. Redis 6 cannot be asked.
function rights.refusal(kind)
    if ARGV[6] == '0' then return nil end
    local fault = ARGV[6] == '2' and flush_fault()
    if fault then return redis.error_reply(fault) end
    if not redis.acl_check_cmd then return nil end
    local known, all = pcall(rights[kind], redis.acl_check_cmd, KEYS[1])
    if not (known and all) then return say_missing(kind, known) end
end
