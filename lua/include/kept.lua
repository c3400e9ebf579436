-- kept.lua: what --min-hold keeps when its holder has given it back. It is nobody's any more: nobody can prove that he
-- holds it, and whoever waits is told so.

-- What info says of it.
local function kept_info(owner)
    local shown = redis.call('HGET', key.info, owner) or '{}'
    return (string.gsub(shown, '^{"token":%d+', '{"kept":true', 1))
end
