-- server.lua: the server's time, and its answers.
local server = {now = now, now_text = now_text}

-- So many ms from now, as a command takes it: Lua turns a number into text slowly.
function server.after(ms) return string.format('%d', server.now + ms) end

-- The answer of a command about a key; nil where the key is of another type.
function server.typed(...)
    local answer = redis.pcall(...)
    if type(answer) ~= 'table' or not answer.err then return answer end
    if not string.find(answer.err, 'WRONGTYPE', 1, true) then return redis.call(...) end -- for the error that it raises
end
