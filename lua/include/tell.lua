-- tell.lua: the messages of scripts of all kinds.

-- Where all hear of it, and by which command.
local publish, channel = string.match(ARGV[5], '^(S?PUBLISH) (.*)$')

-- Tells one waiter, on the channel of its own. False: it does not listen. No permission to publish
-- must not undo what was done: a waiter finds it by itself within seconds.
function server.tell(owner, message)
    return redis.pcall(publish, channel .. ':' .. owner, message) ~= 0
end

-- On everybody's channel: Redisson's waiters, and the first in rlock's line.
function server.tell_all(message)
    redis.pcall(publish, channel, message)
end
