-- rw_lease_key.lua: the key of a read hold, as Redisson has it: rw.lua.
local function lease_key(owner, i)
    local before_owner = string.find(KEYS[1], '{', 1, true) and KEYS[1] or '{' .. KEYS[1] .. '}'
    return before_owner .. ':' .. owner .. ':rwlock_timeout:' .. i
end
