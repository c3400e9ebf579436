-- kept.lua: what --min-hold keeps when its holder has given it back. It is nobody's any more, and
-- whoever waits for it is told so. now: under which name it is kept; the holder's where there is none.
local function note_kept(owner, now)
    local read, known = pcall(cjson.decode, redis.call('HGET', key.info, owner) or '')
    if not read or type(known) ~= 'table' then known = {} end
    known.kept = true
    redis.call('HSET', key.info, now or owner, cjson.encode(known))
end
