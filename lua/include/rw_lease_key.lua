-- rw_lease_key.lua: the key of an owner's read holds, rlock's; of Redisson's i-th: rw.lua.
local function lease_key(owner, i)
    local before_owner = string.find(KEYS[1], '{', 1, true) and KEYS[1] or '{' .. KEYS[1] .. '}'
    return before_owner .. ':' .. owner .. ':rwlock_timeout:' .. (i or '1')
end
