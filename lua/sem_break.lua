-- include: base line sem broken
-- Takes permits away from holders and gives them back, leased ones and plain, and wakes who fits in.
-- Of a permit that is not rlock's the owner is its id, in hexadecimal. Sent again it finds them gone.
-- KEYS and ARGV: base.lua, sem.lua, broken.lua.
--
-- Reply {RELEASED, holders, permits} | {LOST, 0, 0}: who was shown holds none | {WRONG_KIND, 0, 0}
if sem.available() == false then return {code.WRONG_KIND, 0, 0} end
local refusal = server.denies_any({{}, {'HDEL', 'INCRBY', 'ZRANK', 'ZREM'},
    {'ZADD', 'ZRANGE', 'ZRANGEBYSCORE'}})
if refusal then return refusal end
local PLAIN_MS = 604800000 -- no lease is longer: what stands for longer are plain permits

-- Those who were shown, by the bytes that all permits of a hold begin with.
local holds, owners, permits, plain = {}, {}, {}, 0
local lasting = redis.call('PTTL', key.hold) > PLAIN_MS
local known = redis.call('HGETALL', key.hold)
for i = 1, #known, 2 do
    local owner = string.match(known[i + 1], '^%S+ (.*)$')
    if owner and shown[owner] then holds[string.sub(known[i], 1, 24)] = {id = known[i], owner = owner} end
end

-- How many plain permits a hold has that is not found among the leased ones.
local function plain_of(owner)
    local read, info = pcall(cjson.decode, redis.call('HGET', key.info, owner) or '')
    return read and type(info) == 'table' and tonumber(info.permits) or 1
end

for _, permit in ipairs(redis.call('ZRANGE', sem.permits, 0, -1)) do
    local id = string.gsub(permit, '.', function(byte) return ('%02x'):format(byte:byte()) end)
    local hold = holds[string.sub(id, 1, 24)]
    if hold then hold.leased = true end
    if hold or shown[id] then
        permits[#permits + 1] = permit
        owners[hold and hold.owner or id] = true
    end
end
for _, hold in pairs(holds) do
    if not hold.leased and lasting then
        plain = plain + plain_of(hold.owner)
        owners[hold.owner] = true
    end
end

local broken = 0
for _ in pairs(owners) do broken = broken + 1 end
if broken == 0 then return {code.LOST, 0, 0} end
for owner in pairs(owners) do
    redis.call('HDEL', key.info, owner)
    tell_victim(owner)
end
for _, hold in pairs(holds) do redis.call('HDEL', key.hold, hold.id) end
if plain > 0 then sem.count_plain(-plain) end
local given = plain
for _, permit in ipairs(permits) do given = given + redis.call('ZREM', sem.permits, permit) end
if sem.available() then server.tell_all(redis.call('INCRBY', key.lock, given)) end
sem.collect()
sem.wake(math.huge)
return {code.RELEASED, broken, given}
