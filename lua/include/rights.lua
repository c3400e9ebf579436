-- rights.lua: the commands that the scripts of a kind run on its keys. rlock-server(7), ACCESS CONTROL, has the same lists.
-- {kind: function that returns four lists: those with none, one, two and three words behind the key: Redis 8 says nothing
-- about a command with fewer than it takes}: rights_mutex.lua and so on, which stand behind this.
local rights = {}

local function missing(ask, commands, ...)
    for i = 1, commands and #commands or 0 do
        if not ask(commands[i], ...) then return commands[i] end
    end
end

-- Asks for each with redis.acl_check_cmd(), or a function like it. Returns the first that is denied.
function rights.missing(kind, ask, k)
    local none, one, two, three = rights[kind]()
    return missing(ask, none, k) or missing(ask, one, k, k) or missing(ask, two, k, k, k)
        or missing(ask, three, k, k, k, k)
end

-- With --fsync the server must have WAITAOF, which came with Redis 7.2, and one that tells the truth: Redis 7.4, and
-- Valkey up to 9.1 at least, answer before a flush under appendfsync everysec (redis/redis#13793).
local function flush_fault()
    local version = redis.REDIS_VERSION_NUM or 0
    if redis.VALKEY_VERSION_NUM or version >= 0x070400 and version < 0x080000 then return 'WAITAOF: early' end
    return version < 0x070200 and 'WAITAOF: missing'
end

-- Checked by the first request over a connection, before it changes anything. The answer to a user who lacks a
-- right; nil: go on. Redis 6 cannot be asked.
function rights.refusal(kind)
    if ARGV[6] == '0' then return nil end
    local fault = ARGV[6] == '2' and flush_fault()
    if fault then return redis.error_reply(fault) end
    if not redis.acl_check_cmd then return nil end
    local known, command = pcall(rights.missing, kind, redis.acl_check_cmd, KEYS[1])
    if not known then -- this server has renamed one, or lacks it
        command = rights.missing(kind, function(...) return (pcall(redis.acl_check_cmd, ...)) end, KEYS[1])
        return redis.error_reply(("ERR unknown command '%s'"):format(command))
    end
    return command and redis.error_reply('NOPERM this user has no right to ' .. command)
end
