-- broken.lua: whose holds are to be taken away: those that someone was shown, and no others. ARGV 6:
-- their owners, a line each; 7 the user's name, or ''.
local shown = {}
for owner in string.gmatch(ARGV[7], '[^\n]+') do shown[owner] = true end

-- The victim need not wait for its next renewal to find out. On a channel of the owner's, whatever the
-- name, and for all nodes of a cluster.
local function tell_victim(owner)
    local own_channel = string.format('rlock_break:%s', owner)
    redis.pcall('PUBLISH', own_channel, 'broken ' .. (ARGV[8] or ''))
end
