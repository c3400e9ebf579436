-- token.lua: fencing tokens, and what others are shown of the caller, which begins with one.

-- The token in what info says of an owner; nil: it has none.
function server.token_in(shown) return string.match(shown or '', '^{"token":(%d+),') end

-- A token in a reply: a number, or the digits of one that Lua can't say.
function server.reply_token(text)
    local number = tonumber(text)
    return number and number < 2 ^ 53 and number or text
end

-- What others are shown of the caller, as JSON. token: as text; nil: it waits.
function call.us(token)
    return (token and '{"token":' .. token .. ',' or '{') .. ARGV[8] .. ',"since":' .. server.now_text .. '}'
end
