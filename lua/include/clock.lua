-- clock.lua: the one clock, the server's.
local time = redis.call('TIME')
local server = {
    now = time[1] * 1000 + math.floor(time[2] / 1000), -- epoch ms
    now_us = time[1] * 1000000 + time[2], -- epoch microseconds
    now_text = time[1] .. string.sub('00000' .. time[2], -6, -4), -- epoch ms, as a command takes it
}

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
