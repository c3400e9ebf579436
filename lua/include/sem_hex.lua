-- sem_hex.lua: the id of a permit, 16 bytes, as digits; nil: neither rlock nor Redisson gives such a one.
local function hex_of(permit)
    return #permit == 16 and ('%02x'):rep(16):format(string.byte(permit, 1, 16)) or nil
end
