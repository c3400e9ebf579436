-- clock.lua: the one clock, the server's.
local time = redis.call('TIME')
local server = {
    now = time[1] * 1000 + math.floor(time[2] / 1000), -- epoch ms
    now_us = time[1] * 1000000 + time[2], -- epoch microseconds
}

-- What others are shown of the caller, as JSON.
function call.us()
    return '{' .. ARGV[7] .. ',"since":' .. server.now .. '}'
end
