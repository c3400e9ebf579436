-- include: base clock channel token server
-- The token of a hold on several servers is the largest of those that a majority gave. Here one that
-- gave a smaller one accepts it, so that every later one is larger, and no other holder's is the
-- same: of two that want one number, only the first finds it free on a server (ballots as those of
-- the Paxos protocol, Lamport 1998). KEYS and ARGV: base.lua; ARGV 7 the token.
--
-- Reply {GRANTED, token, 0} | {BUSY, the largest that is known here, 0}
local token, known = ARGV[7], redis.call('GET', key.token)

-- Compared as text: a Lua number is exact up to 2^53 only.
local function is_less(a, b)
    if #a ~= #b then return #a < #b end
    return a < b
end

if not known or not string.find(known, '^%d+$') then known = '0' end
local shown = redis.call('HGET', key.info, call.owner) or ''
local ours = server.token_in(shown)
if ours == token then return {GRANTED, server.reply_token(token), 0} end
if not is_less(known, token) then return {BUSY, server.reply_token(known), 0} end
redis.call('SET', key.token, token)
if ours then redis.call('HSET', key.info, call.owner, (string.gsub(shown, '%d+', token, 1))) end
return {GRANTED, server.reply_token(token), 0}
