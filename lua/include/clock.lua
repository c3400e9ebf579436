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
