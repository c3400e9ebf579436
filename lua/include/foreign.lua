-- foreign.lua: what somebody else may have put under a name.

-- A whole number under a key, such as INCRBY takes; nil: none, false: the key is something else.
function server.integer(name)
    local kind = redis.call('TYPE', name).ok
    if kind == 'none' then return nil end
    local text = kind == 'string' and redis.call('GET', name) or ''
    local digits = string.match(text, '^-?([1-9]%d*)$') or string.match(text, '^(0)$')
    return digits and #digits <= 15 and tonumber(text) or false
end

-- Whose hash a lock is says a UUID, Redisson's or rlock's: a counter somebody else keeps is no lock.
function server.is_owner(text)
    return string.find(text, '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x:') ~= nil
end
