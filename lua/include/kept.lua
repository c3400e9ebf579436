-- kept.lua: what --min-hold keeps when its holder has given it back. It is nobody's any more, and
-- whoever waits for it is told so.
local function note_kept(owner)
    local read, known = pcall(cjson.decode, redis.call('HGET', key.info, owner) or '')
    if not read or type(known) ~= 'table' then return end
    known.kept = true
    redis.call('HSET', key.info, owner, cjson.encode(known))
end
