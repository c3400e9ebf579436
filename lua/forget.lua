-- include: base call
-- The answer about a count has come, and nothing of its request is on its way any more: no need to remember that (see
-- try_once.lua). KEYS and ARGV: base.lua.
--
-- Reply {RELEASED, 0, 0}
redis.call('PEXPIRE', call.tombstone, 0)
return {RELEASED, 0, 0}
