-- include: base clock channel rights kind server
-- Which rights of a kind this user lacks. It asks, and touches nothing. KEYS and ARGV: base.lua;
-- ARGV 6 the commands on keys, 7 those on channels, 8 ... the keys: not KEYS, for who has no right to
-- one of those may not run the script.
--
-- Reply {KNOWN, 0, 0, RULE...}: what is missing, as ACL SETUSER takes it | {UNKNOWN, 0, 0}: Redis 6
-- can't be asked
local KNOWN, UNKNOWN = 1, 0
local commands, channel_commands = ARGV[6], ARGV[7]
if not redis.acl_check_cmd then return {UNKNOWN, 0, 0} end

-- With as many words as the command takes: Redis 8 refuses to say anything of fewer, older ones answer at once. A
-- command that this server does not have is missing as well.
local LONGEST = 4
local function allowed(command, ...)
    local words = {...}
    while #words <= LONGEST do
        local known, answer = pcall(redis.acl_check_cmd, command, unpack(words))
        if known then return answer end
        words[#words + 1] = '0'
    end
    return false
end

local function on_channel(command)
    if command == 'publish' then return allowed(command, channel, '0') end
    return allowed(command, channel)
end

local function on_key(command, name)
    if command == 'rename' then return allowed(command, name, name) end
    return allowed(command, name)
end

local reply, open = {KNOWN, 0, 0}, {}

-- A key on which no command is allowed is one whose pattern is missing. A command is never asked for
-- with fewer keys than it takes: a server may fall over that. SCAN takes none, and says nothing of one.
for i = 8, #ARGV do
    local name = ARGV[i]
    local some = false
    for command in string.gmatch(commands, '%S+') do
        some = some or (command ~= 'scan' and on_key(command, name))
    end
    if some then open[#open + 1] = name else reply[#reply + 1] = '~' .. name end
end
for command in string.gmatch(commands, '%S+') do
    local some = #open == 0
    for _, name in ipairs(open) do some = some or on_key(command, name) end
    if not some then reply[#reply + 1] = '+' .. command end
end
if not allowed('evalsha', '', '0') then reply[#reply + 1] = '+evalsha' end
if not allowed('eval', '', '0') then reply[#reply + 1] = '+eval' end

-- The same of channels; nothing is told about UNSUBSCRIBE's.
local listened, words = false, {}
for command in string.gmatch(channel_commands, '%S+') do
    words[#words + 1] = command
    words[command] = on_channel(command)
    listened = listened or (words[command] and command ~= 'unsubscribe')
end
for _, command in ipairs(words) do
    if not words[command] then reply[#reply + 1] = '+' .. command end
end
if #words > 0 and not listened then reply[#reply + 1] = '&' .. channel .. '*' end
return reply
