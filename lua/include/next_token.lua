-- next_token.lua: the next fencing token, and what others are shown of the new holder, which begins with it. As text: a Lua
-- number is exact up to 2^53 only.
local token = redis.call('INCR', KEYS[2])
local token_text = token < 2 ^ 53 and string.format('%d', token) or redis.call('GET', KEYS[2])
if token >= 2 ^ 53 then token = token_text end -- in a reply
local shown = '{"token":' .. token_text .. ',' .. ARGV[8] .. ',"since":' .. now_text .. '}'
