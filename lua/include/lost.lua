-- lost.lua: the answer that there was nothing to give back, or to break. Perhaps a request before this one, whose answer was
-- lost, has done it: that counts once the replicas have it. So something is written, which leaves nothing: they
-- acknowledge it with all that was written before, and from Redis 7.2 on nothing else but that.
local function lost(hash)
    redis.pcall('HSET', hash, '', '')
    redis.pcall('HDEL', hash, '')
    return {LOST, 0, 0}
end
