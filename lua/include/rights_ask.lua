-- rights_ask.lua: asked by the first request over a connection, before it changes anything. A user who lacks a right is
-- told which; so is one whose server has renamed a command, or lacks it. Redis 6 cannot be asked.
-- rights_of: the kind, as rights.lua has it.
--
-- With --fsync the server must have WAITAOF, which came with Redis 7.2, and one that tells the truth: Redis 7.4, and
-- Valkey up to 9.1 at least, answer before a flush under appendfsync everysec (redis/redis#13793).
if ARGV[6] == '2' then
    local version = redis.REDIS_VERSION_NUM or 0
    local is_early = redis.VALKEY_VERSION_NUM or version >= 0x070400 and version < 0x080000
    if is_early then return redis.error_reply('WAITAOF: early') end
    if version < 0x070200 then return redis.error_reply('WAITAOF: missing') end
end
local all_known, may_all = true, true
if ARGV[6] ~= '0' and redis.acl_check_cmd then
    all_known, may_all = pcall(rights[rights_of], redis.acl_check_cmd, KEYS[1])
end
if not all_known or not may_all then
    local missing
    rights[rights_of](function(command, ...)
        local has, may = pcall(redis.acl_check_cmd, command, ...)
        missing = command
        return has and (may or not all_known)
    end, KEYS[1])
    return redis.error_reply(all_known and 'NOPERM this user has no right to ' .. missing
        or "ERR unknown command '" .. missing .. "'")
end
