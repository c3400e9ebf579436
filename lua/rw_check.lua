-- include: base rw check
-- Looks whether a hold of `read` or `write` is still there. KEYS and ARGV: base.lua, rw.lua, check.lua.
-- Reply: mutex_check.lua

local function ends(field, i)
    if field ~= rw.owner_of(field) then return tonumber(redis.call('HGET', key.hold, field) or 0) end
    return server.now + redis.call('PTTL', rw.lease_key(field, i))
end

-- Of all that its owner holds what lasts longest.
local function last()
    local most = 0
    for _, field in ipairs({call.owner, rw.write_field(call.owner)}) do
        for i = 1, rw.count(field) do
            if redis.call('HGET', key.hold, field .. ':' .. i) then most = math.max(most, ends(field, i)) end
        end
    end
    return most
end

if not rw.mode() then return check.lost() end
if check.by_id then
    local field, i = rw.locate(call.owner)
    return check.kept_until(field and ends(field, i) or 0)
end
return check.kept_until(check.proves(call.owner) and last() or 0)
