-- sem_permit.lua: the first of a hold's permits: its id, as bytes: sem.lua.
local function permit_of(hex)
    return struct.pack('>I4I4I4I4', tonumber(string.sub(hex, 1, 8), 16), tonumber(string.sub(hex, 9, 16), 16),
        tonumber(string.sub(hex, 17, 24), 16), tonumber(string.sub(hex, 25, 32), 16))
end
