-- include: base rw check
-- Looks whether a hold of `read` or `write` is still there. KEYS and ARGV: base.lua, rw.lua, check.lua.
-- Reply: mutex_check.lua

local function left(field, i)
    if field == rw.owner_of(field) then return redis.call('PTTL', rw.lease_key(field, i)) end
    return tonumber(redis.call('HGET', key.hold, field) or 0) - server.now
end

-- Of all that its owner holds what lasts longest.
local function longest()
    local most = 0
    for _, field in ipairs({call.owner, rw.write_field(call.owner)}) do
        for i = 1, rw.count(field) do
            if redis.call('HGET', key.hold, field .. ':' .. i) then most = math.max(most, left(field, i)) end
        end
    end
    return most
end

local ms = 0
if not rw.mode() then return check.lost() end
if check.by_id then
    local field, i = rw.locate(call.owner)
    ms = field and left(field, i) or 0
elseif check.proves(call.owner) then
    ms = longest()
end
return ms > 0 and check.kept(ms) or check.lost()
