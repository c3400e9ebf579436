-- include: base
-- The token of a hold on several servers is the largest of those that a majority gave. Here one that
-- gave a smaller one accepts it, so that every later one is larger, and no other holder's is the
-- same: of two that want one number, only the first finds it free on a server (ballots as those of
-- the Paxos protocol, Lamport 1998). KEYS and ARGV: base.lua; ARGV 6 the token.
--
-- Reply {GRANTED, token, 0} | {BUSY, the largest that is known here, 0}
local number, known = tonumber(ARGV[6]), server.integer(key.token) or 0
local ours = redis.call('HGET', key.hold, call.owner)
if ours == ARGV[6] then return {code.GRANTED, number, 0} end
if known >= number then return {code.BUSY, known, 0} end
redis.call('SET', key.token, ARGV[6])
if ours then redis.call('HSET', key.hold, call.owner, ARGV[6]) end
return {code.GRANTED, number, 0}
