-- include: base call rights rights_mutex rights_fair rights_rw rights_sem rights_resize
-- include: rights_latch rights_break
-- Which rights of a kind this user lacks. It asks, and touches nothing. KEYS and ARGV: base.lua;
-- ARGV 7 the kind, as rights.lua has it, 8 the commands on channels, 9 ... the keys: not KEYS, for a user
-- without a right to one of those may not run the script.
--
-- Reply {KNOWN, 0, 0, RULE...}: what is missing, as ACL SETUSER takes it | {UNKNOWN, 0, 0}: Redis 6
-- can't be asked
function rights.status(can, k)
    return can('GET', k) and can('PTTL', k) and can('STRLEN', k) and can('TYPE', k)
        and can('HGET', k, k) and can('HMGET', k, k) and can('HSCAN', k, k) and can('HSTRLEN', k, k)
        and can('ZSCAN', k, k) and can('ZSCORE', k, k) and can('LRANGE', k, k, k) and can('ZCOUNT', k, k, k)
        and can('ZRANGE', k, k, k)
end
rights['status, all'] = function(can, k)
    return rights.status(can, k) and can('HKEYS', k) and can('HLEN', k) and can('SCAN', k)
end

local KNOWN, UNKNOWN = 1, 0
if not redis.acl_check_cmd then return {UNKNOWN, 0, 0} end

local reply, found, order, some_open = {KNOWN, 0, 0}, {}, {}, false

-- A command that this server does not have is missing as well.
local function allowed(...)
    local known, answer = pcall(redis.acl_check_cmd, ...)
    return known and answer
end

-- A key on which no command is allowed is one whose pattern is missing. SCAN takes none, and says nothing of one. A
-- command that is allowed on one of the others is there.
for i = 9, #ARGV do
    local is_open = false
    rights[ARGV[7]](function(command, ...)
        local may = allowed(command, ...)
        if found[command] == nil then order[#order + 1] = command end
        found[command] = found[command] or may
        is_open = is_open or command ~= 'SCAN' and may
        return true
    end, ARGV[i])
    some_open = some_open or is_open
    if not is_open then reply[#reply + 1] = '~' .. ARGV[i] end
end
for _, command in ipairs(some_open and order or {}) do
    if not found[command] then reply[#reply + 1] = '+' .. string.lower(command) end
end
for _, command in ipairs({'evalsha', 'eval'}) do
    if not allowed(command, '0', '0') then reply[#reply + 1] = '+' .. command end
end

-- The same of channels; nothing is told about UNSUBSCRIBE's.
local channel = string.match(ARGV[5], ' (.*)$')
local listened = false
for command in string.gmatch(ARGV[8], '%S+') do
    local may = allowed(command, channel, unpack(command == 'publish' and {channel} or {}))
    listened = listened or may
    if not may then reply[#reply + 1] = '+' .. command end
end
if ARGV[8] ~= '' and not listened then reply[#reply + 1] = '&' .. channel .. '*' end
return reply
