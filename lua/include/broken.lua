-- broken.lua: whose holds are to be taken away: those of one holder, which somebody was shown, and no others.
-- ARGV  7 its owner  8 the user's name, or ''
local victim = ARGV[7]

-- It need not wait for its next renewal to find out. On a channel of the owner's, whatever the name, and for all nodes
-- of a cluster.
local function tell_victim()
    local own_channel = string.format('rlock_break:%s', victim)
    redis.pcall('PUBLISH', own_channel, 'broken ' .. (ARGV[8] or ''))
end
