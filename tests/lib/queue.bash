# queue.bash: the fair queue of x, and those who stand in it.
# shellcheck shell=bash

source "$TESTS/lib/actors.bash"

queue='redisson_lock_queue:{x}'
scores='redisson_lock_timeout:{x}'
foreign_waiter=99999999-2222-4333-8444-555555555555:7

queued() { # N
    (($(redis LLEN "$queue") == $1))
}

# joins WHO [OPTION...]: a waiter, the last of the queue now.
joins() {
    local length
    length=$(redis LLEN "$queue")
    act "$1" fair "${@:2}"
    wait_until 5 queued $((length + 1))
}

# join WHO...: each after the one before stands; their sections will be brief.
join() {
    local who
    for who in "$@"; do
        brief "$who"
        joins "$who"
    done
}

# The owner that stands at a place, from 1 on.
at_place() { # PLACE
    redis LINDEX "$queue" $(($1 - 1))
}

# A Redisson client's try and its unlock, on the server as Redisson 3.50's do it; the patience of its
# waiters is Redisson's.
redisson_try() { # OWNER: prints nothing when it has x now, else the lease that is left or more
    redis EVAL 'while true do
            local head = redis.call("LINDEX", KEYS[2], 0)
            local ends = head and redis.call("ZSCORE", KEYS[3], head)
            if not ends or tonumber(ends) > tonumber(ARGV[2]) then break end
            redis.call("ZREM", KEYS[3], head)
            redis.call("LPOP", KEYS[2])
        end
        local head = redis.call("LINDEX", KEYS[2], 0)
        if redis.call("EXISTS", KEYS[1]) == 0 and (not head or head == ARGV[1]) then
            redis.call("LPOP", KEYS[2])
            redis.call("ZREM", KEYS[3], ARGV[1])
            for _, each in ipairs(redis.call("ZRANGE", KEYS[3], 0, -1)) do
                redis.call("ZINCRBY", KEYS[3], -300000, each)
            end
            redis.call("HSET", KEYS[1], ARGV[1], 1)
            redis.call("PEXPIRE", KEYS[1], 30000)
            return nil
        end
        if redis.call("ZSCORE", KEYS[3], ARGV[1]) then return redis.call("PTTL", KEYS[1]) end
        local last = redis.call("LINDEX", KEYS[2], -1)
        local rest = last and redis.call("ZSCORE", KEYS[3], last) - ARGV[2] or redis.call("PTTL", KEYS[1])
        if redis.call("ZADD", KEYS[3], rest + 300000 + ARGV[2], ARGV[1]) == 1 then
            redis.call("RPUSH", KEYS[2], ARGV[1])
        end
        return rest' 3 x "$queue" "$scores" "$1" "$(now_ms)"
}

redisson_unlock() { # OWNER
    redis EVAL 'if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then return "not held" end
        redis.call("DEL", KEYS[1])
        local head = redis.call("LINDEX", KEYS[2], 0)
        if head then redis.call("PUBLISH", KEYS[3] .. ":" .. head, 0) end' \
        3 x "$queue" 'redisson_lock__channel:{x}' "$1"
}
