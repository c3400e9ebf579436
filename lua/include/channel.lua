-- channel.lua: where all hear of it, and by which command.
local publish, channel = string.match(ARGV[5], '^(S?PUBLISH) (.*)$')
