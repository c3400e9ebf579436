-- grant.lua: how `run`, `fair`, `read` and `write` are taken by a new holder: the end of those scripts. It is written
-- without functions, which cost time: nearly always a lock is free, nobody waits, and all that is before it was skipped.
--
-- next_token.lua comes first: INCR is refused when memory is out, and a hole in the tokens harms nobody. The lock's hash
-- comes behind this, the last, with its expiry at once.
-- held_as: the field it is held under  others_left: ms for which others hold it, too; nil: it is free
-- finish(): what is to be done then; nil: nobody waits, and nothing stands beside the lock
local lasts = others_left and others_left > tonumber(ARGV[2]) and others_left or ARGV[2]
if finish and not others_left then redis.call('DEL', KEYS[3], KEYS[4]) end
redis.call('HSET', KEYS[3], ARGV[1], shown)
redis.call('PEXPIRE', KEYS[3], lasts)
redis.call('ZADD', KEYS[4], string.format('%d', now + ARGV[2]), held_as .. ' ' .. string.sub(ARGV[3], 1, 32))
redis.call('PEXPIRE', KEYS[4], lasts)
