-- mutex.lua: the hash of `run` and `fair`, Redisson's: it has one field, and perhaps another for what --min-hold
-- keeps of it (holds.lua).
local mutex = {}

-- The holder; nil when it is free, false when the key is something else.
-- left: ms until it expires, -1: never, -2: it is free.
function mutex.holder(left)
    if left == -2 then return nil end
    local scanned, holder = server.typed('HSCAN', key.lock, '0', 'COUNT', '10'), false
    if not scanned or scanned[1] ~= '0' or #scanned[2] > 4 then return false end
    for i = 1, #scanned[2], 2 do
        local field, number = scanned[2][i], scanned[2][i + 1]
        if not server.is_owner(field) or not string.find(number, '^[1-9]%d*$') then return false end
        if not holder or not string.find(field, '#kept$') then holder = field end
    end
    return holder
end
