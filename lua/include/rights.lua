-- rights.lua: the commands that the scripts of a kind run on its keys. rlock-server(7), ACCESS CONTROL, has the same lists.
-- {kind: function(can, k), which asks can(COMMAND, k...) for each until one is denied, and returns whether none was}:
-- rights_mutex.lua and so on, which stand behind this. As many words stand behind a command as it takes at least: of one
-- with fewer Redis 8 says nothing.
local rights = {}
