-- rights.lua: the commands that the scripts of a kind run on its keys. rlock-server(7), ACCESS CONTROL, has the same lists.
local rights = {}

-- COMMAND:N takes N words behind the key: Redis 8 says nothing about a command with fewer than it takes.
function rights.commands_of(kind)
    local mutex = 'DEL EXISTS HDEL:1 HGET:1 HGETALL HINCRBY:2 HSCAN:1 HSET:2 INCR LPOS:1 LRANGE:2 PEXPIRE:1 PTTL '
        .. 'ZADD:2 ZCARD ZCOUNT:2 ZRANGE:2 ZRANGEBYSCORE:2 ZRANK:1 ZREM:1 ZSCORE:1 '
    local rw = 'DEL EXISTS GET HDEL:1 HEXISTS:1 HGET:1 HGETALL HINCRBY:2 HLEN HSCAN:1 HSET:2 INCR PEXPIRE:1 PTTL '
        .. 'RENAME:1 SET:1 ZADD:2 ZCARD ZCOUNT:2 ZRANGE:2 ZRANGEBYSCORE:2 ZRANK:1 ZREM:1 ZSCORE:1'
    local permits = 'DEL GET HDEL:1 HGET:1 HGETALL HMGET:1 HSCAN:1 HSET:2 INCR INCRBY:1 PEXPIRE:1 PTTL SET:1 '
        .. 'ZADD:2 ZCARD ZCOUNT:2 ZRANGE:2 ZRANGEBYSCORE:2 ZRANK:1 ZREM:1 ZSCORE:1 '
    local all = {
        run = mutex,
        fair = mutex .. 'LINSERT:3 LLEN LREM:2 PERSIST RPUSH:1',
        ['read, write'] = rw,
        sem = permits .. 'EXISTS',
        ['sem --plain'] = permits .. 'HINCRBY:2',
        ['sem --resize'] = 'GET HDEL:1 HGET:1 HGETALL HMGET:1 HSET:2 INCRBY:1 PEXPIRE:1 SET:1 ZADD:2 ZCARD ZRANGE:2 '
            .. 'ZRANGEBYSCORE:2 ZREM:1',
        ['latch set'] = 'GET HGET:1 HSET:2 PEXPIRE:1 SET:1 TYPE',
        ['latch down'] = 'DECRBY:1 DEL GET HGET:1 HSET:2 PEXPIRE:1 TYPE',
        ['latch wait'] = 'GET HGET:1 TYPE',
        status = 'GET HGET:1 HGETALL HSCAN:1 HSTRLEN:1 LRANGE:2 PTTL STRLEN TYPE ZCOUNT:2 ZRANGE:2 '
            .. 'ZSCAN:1 ZSCORE:1',
        ['status, all'] = 'GET HGET:1 HGETALL HKEYS HLEN HSCAN:1 HSTRLEN:1 LRANGE:2 PTTL SCAN STRLEN TYPE ZCOUNT:2 '
            .. 'ZRANGE:2 ZRANGEBYSCORE:2 ZSCAN:1 ZSCORE:1',
        ['break'] = 'DEL GET HDEL:1 HGET:1 HGETALL HINCRBY:2 HLEN HMGET:1 HSCAN:1 HSET:2 HSTRLEN:1 INCRBY:1 LRANGE:2 '
            .. 'MGET PEXPIRE:1 PTTL SET:1 STRLEN TYPE ZADD:2 ZCARD ZCOUNT:2 ZRANGE:2 ZRANGEBYSCORE:2 '
            .. 'ZREM:1 ZSCAN:1 ZSCORE:1',
    }
    return string.gmatch(all[kind], '(%u+):?(%d?)')
end

-- Whether this user may run that command on a key. Redis 6 cannot be asked.
function rights.has(command, words, name)
    return redis.acl_check_cmd(command, name, unpack({name, name, name}, 1, tonumber(words) or 0))
end

-- With --fsync the server must have WAITAOF, which came with Redis 7.2, and one that tells the truth: Redis 7.4, and
-- Valkey up to 9.1 at least, answer before a flush under appendfsync everysec (redis/redis#13793).
local function flush_fault()
    local version = redis.REDIS_VERSION_NUM or 0
    if redis.VALKEY_VERSION_NUM or version >= 0x070400 and version < 0x080000 then return 'WAITAOF: early' end
    return version < 0x070200 and 'WAITAOF: missing'
end

-- Checked by the first request over a connection, before it changes anything. The answer to a user who lacks a
-- right; nil: go on.
function rights.refusal(kind)
    if ARGV[6] == '0' then return nil end
    local fault = ARGV[6] == '2' and flush_fault()
    if fault then return redis.error_reply(fault) end
    if not redis.acl_check_cmd then return nil end
    for command, words in rights.commands_of(kind) do
        if not rights.has(command, words, key.lock) then
            return redis.error_reply('NOPERM this user has no right to ' .. command)
        end
    end
end
