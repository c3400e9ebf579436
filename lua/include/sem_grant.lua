-- sem_grant.lua: how permits are taken by a new holder, leased or plain: the end of those scripts, behind next_token.lua.
-- As in grant.lua there are no functions here.
-- put(): puts the permits into the caller's name, and returns how many: not those that stand there already, whose hold
-- expired before the server's clock was set back; nil: it is one with a lease. lasts: ms, as text, for Lua says
-- numbers slowly. is_alone: nobody else has any  finish(): out of the line
local id, left, stands_for = string.sub(ARGV[3], 1, 32), redis.call('PTTL', KEYS[1]), lasts
redis.call('HSET', KEYS[4], id, token_text .. ' ' .. ARGV[1], ARGV[1], token_text .. ' ' .. id .. ' ' .. ARGV[4])
local taken
if put then taken = put() else taken = redis.call('ZADD', KEYS[8], string.format('%d', now + lasts), permit_of(id)) end
if taken > 0 then redis.call('INCRBY', KEYS[1], '-' .. taken) end
if left > 0 then redis.call('PEXPIRE', KEYS[8], left) end -- Redisson's expire() of a semaphore is one of its permits, too
redis.call('HSET', KEYS[3], ARGV[1], shown)
if not is_alone then stands_for = math.max(redis.call('PTTL', KEYS[4]), tonumber(lasts)) end -- see sem.expire()
redis.call('PEXPIRE', KEYS[3], stands_for)
redis.call('PEXPIRE', KEYS[4], stands_for)
if finish then finish() end
return {GRANTED, token, tonumber(lasts)}
