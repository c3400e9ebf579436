-- rights.lua: the commands that the scripts of a kind run on its keys. rlock-server(7), ACCESS CONTROL, has the same lists.
local rights = {}

-- Those with none, one, two and three words behind the key: Redis 8 says nothing about a command with fewer than it
-- takes.
function rights.of(kind)
    if kind == 'run' then
        return {'DEL', 'EXISTS', 'HGETALL', 'INCR', 'PTTL', 'ZCARD'},
            {'HDEL', 'HGET', 'HSCAN', 'LPOS', 'PEXPIRE', 'ZRANK', 'ZREM', 'ZSCORE'},
            {'HINCRBY', 'HSET', 'LRANGE', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE'}
    elseif kind == 'fair' then -- and those of `run`
        return {'LLEN', 'PERSIST'}, {'RPUSH'}, {'LREM'}, {'LINSERT'}
    elseif kind == 'read, write' then
        return {'DEL', 'EXISTS', 'GET', 'HGETALL', 'HLEN', 'INCR', 'PTTL', 'ZCARD'},
            {'HDEL', 'HEXISTS', 'HGET', 'HSCAN', 'PEXPIRE', 'RENAME', 'SET', 'ZRANK', 'ZREM', 'ZSCORE'},
            {'HINCRBY', 'HSET', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE'}
    elseif kind == 'sem' then
        return {'DEL', 'EXISTS', 'GET', 'HGETALL', 'INCR', 'PTTL', 'ZCARD'},
            {'HDEL', 'HGET', 'HMGET', 'HSCAN', 'INCRBY', 'PEXPIRE', 'SET', 'ZRANK', 'ZREM', 'ZSCORE'},
            {'HSET', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE'}
    elseif kind == 'sem --plain' then
        return {'DEL', 'GET', 'HGETALL', 'INCR', 'PTTL', 'ZCARD'},
            {'HDEL', 'HGET', 'HMGET', 'HSCAN', 'INCRBY', 'PEXPIRE', 'SET', 'ZRANK', 'ZREM', 'ZSCORE'},
            {'HINCRBY', 'HSET', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE'}
    elseif kind == 'sem --resize' then
        return {'GET', 'HGETALL', 'ZCARD'}, {'HDEL', 'HGET', 'HMGET', 'INCRBY', 'PEXPIRE', 'SET', 'ZREM'},
            {'HSET', 'ZADD', 'ZRANGE', 'ZRANGEBYSCORE'}
    elseif kind == 'latch set' then
        return {'GET', 'TYPE'}, {'HGET', 'PEXPIRE', 'SET'}, {'HSET'}
    elseif kind == 'latch down' then
        return {'DEL', 'GET', 'TYPE'}, {'DECRBY', 'HGET', 'PEXPIRE'}, {'HSET'}
    elseif kind == 'latch wait' then
        return {'GET', 'TYPE'}, {'HGET'}
    elseif kind == 'status' then
        return {'GET', 'HGETALL', 'PTTL', 'STRLEN', 'TYPE'}, {'HGET', 'HSCAN', 'HSTRLEN', 'ZSCAN', 'ZSCORE'},
            {'LRANGE', 'ZCOUNT', 'ZRANGE'}
    elseif kind == 'status, all' then -- and those of `status`
        return {'HKEYS', 'HLEN', 'SCAN'}, {}, {'ZRANGEBYSCORE'}
    elseif kind == 'break' then
        return {'DEL', 'GET', 'HGETALL', 'HLEN', 'MGET', 'PTTL', 'STRLEN', 'TYPE', 'ZCARD'},
            {'HDEL', 'HGET', 'HMGET', 'HSCAN', 'HSTRLEN', 'INCRBY', 'PEXPIRE', 'SET', 'ZREM', 'ZSCAN', 'ZSCORE'},
            {'HINCRBY', 'HSET', 'LRANGE', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE'}
    end
end

local function missing(ask, commands, ...)
    for i = 1, commands and #commands or 0 do
        if not ask(commands[i], ...) then return commands[i] end
    end
end

-- Asks for each with redis.acl_check_cmd(), or a function like it. Returns the first that is denied.
function rights.missing(kind, ask, k)
    local none, one, two, three = rights.of(kind)
    return missing(ask, none, k) or missing(ask, one, k, k) or missing(ask, two, k, k, k)
        or missing(ask, three, k, k, k, k)
end

-- With --fsync the server must have WAITAOF, which came with Redis 7.2, and one that tells the truth: Redis 7.4, and
-- Valkey up to 9.1 at least, answer before a flush under appendfsync everysec (redis/redis#13793).
local function flush_fault()
    local version = redis.REDIS_VERSION_NUM or 0
    if redis.VALKEY_VERSION_NUM or version >= 0x070400 and version < 0x080000 then return 'WAITAOF: early' end
    return version < 0x070200 and 'WAITAOF: missing'
end

-- Checked by the first request over a connection, before it changes anything. The answer to a user who lacks a
-- right; nil: go on. Redis 6 cannot be asked.
function rights.refusal(kind)
    if ARGV[6] == '0' then return nil end
    local fault = ARGV[6] == '2' and flush_fault()
    if fault then return redis.error_reply(fault) end
    if not redis.acl_check_cmd then return nil end
    local command = rights.missing(kind, redis.acl_check_cmd, KEYS[1])
    return command and redis.error_reply('NOPERM this user has no right to ' .. command)
end
