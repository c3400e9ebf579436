-- include: base clock call server token token_raise
-- The token of a hold on several servers is the largest of those that a majority gave. Here one that
-- gave a smaller one accepts it, so that every later one is larger, and no other holder's is the
-- same: of two that want one number, only the first finds it free on a server (ballots as those of
-- the Paxos protocol, Lamport 1998). Never of a hold that was re-entered: its token is that of the hold
-- around it. KEYS and ARGV: base.lua; ARGV 7 the token.
--
-- Reply {GRANTED, token, 0} | {BUSY, the largest that is known here, 0}
local token = ARGV[7]
local shown = redis.call('HGET', key.info, call.owner) or ''
local ours = server.token_in(shown)
if ours == token then return {GRANTED, server.reply_token(token), 0} end
if not raise.is_new(token) then return {BUSY, server.reply_token(raise.known), 0} end
raise.to(token)
if ours then redis.call('HSET', key.info, call.owner, (string.gsub(shown, '%d+', token, 1))) end
return {GRANTED, server.reply_token(token), 0}
