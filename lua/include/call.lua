-- call.lua: the keys and arguments of every request, by name: base.lua has the list. What is done nearly always stands
-- before this in a script, and does without: names cost time.
local unpack = table.unpack or unpack -- Lua 5.4 and 5.1
local key = {lock = KEYS[1], token = KEYS[2], info = KEYS[3], hold = KEYS[4], waiters = KEYS[5], shown = KEYS[7]}
local call = {
    owner = ARGV[1], lease = tonumber(ARGV[2]), lease_text = ARGV[2], -- commands take a text faster than a number
    id = string.sub(ARGV[3], 1, 32), try = tonumber(string.sub(ARGV[3], 34)) or 1, tombstone = KEYS[#KEYS],
}
