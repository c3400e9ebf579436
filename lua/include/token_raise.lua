-- token_raise.lua: a token that other servers gave, made known here, so that every later one is larger.
local raise = {known = redis.call('GET', key.token)}
if not raise.known or not string.find(raise.known, '^%d+$') then raise.known = '0' end

-- Whether a token is larger than all that are known here. Compared as text: a Lua number is exact up to 2^53 only.
function raise.is_new(token)
    if #raise.known ~= #token then return #raise.known < #token end
    return raise.known < token
end

function raise.to(token) redis.call('SET', key.token, token) end
