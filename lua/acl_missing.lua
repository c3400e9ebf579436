-- include: base clock rights
-- Which rights of a kind this user lacks. It asks, and touches nothing. KEYS and ARGV: base.lua;
-- ARGV 7 the kind, as rights.lua has it, 8 the commands on channels, 9 ... the keys: not KEYS, for who has no
-- right to one of those may not run the script.
--
-- Reply {KNOWN, 0, 0, RULE...}: what is missing, as ACL SETUSER takes it | {UNKNOWN, 0, 0}: Redis 6
-- can't be asked
local KNOWN, UNKNOWN = 1, 0
local WORDS_OF = {eval = 1, evalsha = 1, publish = 1} -- behind the first
if not redis.acl_check_cmd then return {UNKNOWN, 0, 0} end

local reply, open = {KNOWN, 0, 0}, {}

-- A command that this server does not have is missing as well.
local function allowed(command, words, name)
    local known, answer = pcall(rights.has, command, words, name)
    return known and answer
end

-- A key on which no command is allowed is one whose pattern is missing. SCAN takes none, and says nothing of one.
for i = 9, #ARGV do
    local some = false
    for command, words in rights.commands_of(ARGV[7]) do
        some = some or command ~= 'SCAN' and allowed(command, words, ARGV[i])
    end
    if some then open[#open + 1] = ARGV[i] else reply[#reply + 1] = '~' .. ARGV[i] end
end
for command, words in rights.commands_of(ARGV[7]) do
    local some = #open == 0
    for _, name in ipairs(open) do some = some or allowed(command, words, name) end
    if not some then reply[#reply + 1] = '+' .. string.lower(command) end
end
for _, command in ipairs({'evalsha', 'eval'}) do
    if not allowed(command, WORDS_OF[command], '0') then reply[#reply + 1] = '+' .. command end
end

-- The same of channels; nothing is told about UNSUBSCRIBE's.
local channel = string.match(ARGV[5], ' (.*)$')
local listened, channels = false, false
for command in string.gmatch(ARGV[8], '%S+') do
    local may = allowed(command, WORDS_OF[command], channel)
    channels = true
    listened = listened or may
    if not may then reply[#reply + 1] = '+' .. command end
end
if channels and not listened then reply[#reply + 1] = '&' .. channel .. '*' end
return reply
