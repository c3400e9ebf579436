-- include: base clock channel server
-- Goes through a few of the server's keys and names the locks that these may be of, for inspect.lua to
-- inspect. Writes nothing. KEYS and ARGV: base.lua, but that it is about no lock of its own: no KEYS;
-- ARGV 6 where to go on, as the last answer said, '0' at first; 7 about how many keys.
--
-- Reply {SCANNED, keys looked at, 0, where to go on: '0' when that was all, {name...}}; a name may
-- come more than once.
local SCANNED = 1
local UUID = '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x:'
local names = {}

-- A key that this user has no access to is not there for it.
local function ask(...)
    local answer = redis.pcall(...)
    if type(answer) ~= 'table' or not answer.err then return answer end
    if not string.find(answer.err, 'access') then return redis.call(...) end -- a right is missing
end

local function kind_of(found)
    local kind = ask('TYPE', found)
    return kind and kind.ok
end

-- {NAME}, or a name that has braces of its own.
local function untagged(text)
    return string.match(text, '^{([^{]+)}$') or string.match(text, '^.*{.*$')
end

-- A number is a semaphore, or a latch, when something beside it tells so.
local function numbered(name, kind)
    return kind_of(name) == 'string' and kind == 'string'
end

local BEFORE = {
    ['redisson_lock_token'] = numbered, ['redisson_lock_queue'] = 'list', ['rlock_info'] = 'hash',
    ['rlock_hold'] = 'hash', ['rlock_last'] = 'hash', ['rlock_waiters'] = 'zset', ['rlock_writers'] = 'zset',
}

-- The name of whose lock this key is by its own name; nil: none's.
local function beside(found, kind)
    local prefix, rest = string.match(found, '^([a-z_]+):(.+)$')
    local expected = BEFORE[prefix]
    local name = expected and untagged(rest)
    if name and (expected == kind or type(expected) == 'function' and expected(name, kind)) then return name end
    local timeout = kind == 'zset' and string.match(found, '^(.+):timeout$')
    local wait_write = kind == 'string' and string.match(found, '^(.+):wait_write$')
    return timeout and untagged(timeout) or wait_write and untagged(wait_write)
end

-- A hash that is a lock by what is in it; those of rlock and of Redisson that stand beside one are none.
local function is_lock(found)
    if string.find(found, '^rlock_') or string.find(found, '^redisson_') then return false end
    local fields = ask('HLEN', found)
    if fields == 1 then return string.find((ask('HKEYS', found) or {})[1] or '', UUID) end
    local mode = ask('HGET', found, 'mode')
    return mode == 'read' or mode == 'write'
end

local scanned = redis.call('SCAN', ARGV[7], 'COUNT', ARGV[8])
for _, found in ipairs(scanned[2]) do
    local kind = kind_of(found)
    names[#names + 1] = beside(found, kind) or (kind == 'hash' and is_lock(found) and found) or nil
end
return {SCANNED, #scanned[2], 0, scanned[1], names}
