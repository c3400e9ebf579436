-- broken.lua: whose holds are to be taken away: those that someone was shown, and no others. ARGV 6:
-- their owners, a line each.
local shown = {}
for owner in string.gmatch(ARGV[6], '[^\n]+') do shown[owner] = true end
