-- include: base clock channel kind server rw rw_holds check
-- Looks whether a hold of `read` or `write` is still there. KEYS and ARGV: base.lua, rw.lua, check.lua.
-- Reply: mutex_check.lua
local MANY = 8 -- holds of one owner, one in the other: so many are asked

local function ends(field, i)
    if rw.is_write(field) then return tonumber(redis.call('ZSCORE', rw.leases, field .. ':' .. i) or 0) end
    return server.now + redis.call('PTTL', rw.lease_key(field, i))
end

-- Of all that its owner holds what lasts longest.
local function last()
    local most = 0
    for _, field in ipairs({call.owner, rw.write_field(call.owner)}) do
        for i = 1, math.min(rw.count(field), MANY) do most = math.max(most, ends(field, i)) end
    end
    return most
end

if check.by_id then
    local field, i = rw.find(call.owner)
    return check.kept_until(field and ends(field, i) or 0)
end
return check.kept_until(check.proves(call.owner) and last() or 0)
