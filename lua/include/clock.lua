-- clock.lua: the one clock, the server's.
local time = redis.call('TIME')
local server = {now_text = time[1] .. string.sub('00000' .. time[2], -6, -4)} -- epoch ms, as a command takes it
server.now = tonumber(server.now_text)

-- So many ms from now, as a command takes it: Lua turns a number into text slowly.
function server.after(ms) return string.format('%d', server.now + ms) end

-- The answer of a command about a key; nil where the key is of another type.
function server.typed(...)
    local answer = redis.pcall(...)
    if type(answer) ~= 'table' or not answer.err then return answer end
    if not string.find(answer.err, 'WRONGTYPE', 1, true) then return redis.call(...) end -- for the error that it raises
end

-- What others are shown of the caller, as JSON. token: as text; nil: it waits.
function call.us(token)
    return (token and '{"token":' .. token .. ',' or '{') .. ARGV[8] .. ',"since":' .. server.now_text .. '}'
end

-- The next fencing token, as text: a Lua number is exact up to 2^53 only.
function server.next_token()
    local number = redis.call('INCR', key.token)
    return number < 2 ^ 53 and string.format('%d', number) or redis.call('GET', key.token)
end

-- The token in what info says of an owner; nil: it has none.
function server.token_in(shown) return string.match(shown or '', '^{"token":(%d+),') end

-- A token in a reply: a number, or the digits of one that Lua can't say.
function server.reply_token(text)
    local number = tonumber(text)
    return number and number < 2 ^ 53 and number or text
end
