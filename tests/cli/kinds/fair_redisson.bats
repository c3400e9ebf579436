#!/usr/bin/env bats
# fair_redisson.bats: rlock's waiters and Redisson's in one queue: each keeps its turn.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/queue

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

@test "scores are Redisson's: the lease's end and 300 s for each place, those behind move up" {
    needs_server 7.0 PEXPIRETIME
    local end place
    foreign_hold x 60000
    end=$(redis PEXPIRETIME x)
    join a b c
    for place in 1 2 3; do
        assert_near "$(score "$(at_place "$place")")" $((end + 300000 * place))
    done
    signal TERM b
    gone 143 b
    assert_near "$(score "$(at_place 2)")" $((end + 600000))
    foreign_release x
    finish a c
    assert_no_keys
}

assert_near() { # MS MS
    (($1 - $2 < 50 * SLOW && $2 - $1 < 50 * SLOW)) || fail "$1, not $2"
}

@test "a Redisson client's waiter keeps its turn, and its release wakes the next of ours" {
    local late=aaaaaaaa-2222-4333-8444-555555555555:8
    holds first fair
    join a
    assert_not_equal "$(redisson_try "$foreign_waiter")" ''
    join b
    assert_not_equal "$(redisson_try "$late")" ''
    listen "redisson_lock__channel:{x}:$foreign_waiter" "redisson_lock__channel:{x}:$late"
    finish first a
    wait_until 2 was_told "$foreign_waiter"
    run grep first messages # it takes numbers only
    assert_failure
    assert_equal "$(redis PTTL "$queue") $(redis PTTL "$scores")" "-1 -1" # theirs do not expire
    kept_out fair
    refute_entered b
    assert_not_equal "$(redisson_try "$late")" ''
    assert_equal "$(redisson_try "$foreign_waiter")" ''
    kept_out fair
    redisson_unlock "$foreign_waiter"
    finish b
    wait_until 2 was_told "$late"
    assert_equal "$(redisson_try "$late")" ''
    redisson_unlock "$late"
    assert_equal "$(order)" "first a b"
    assert_no_keys
}

was_told() { # OWNER
    grep -A 1 -F "$1" messages | grep -qx 0
}

@test "a Redisson client drops no living waiter of ours and does not go before it" {
    foreign_hold x 60000
    join a
    signal STOP a
    redis DEL x
    assert_not_equal "$(redisson_try "$foreign_waiter")" ''
    assert_equal "$(redis LLEN "$queue")" 2
    signal CONT a
    finish a
    assert_equal "$(redisson_try "$foreign_waiter")" ''
}

@test "Redisson's waiters are dropped when their time is over, not before" {
    local over
    over=$(($(now_ms) + 1500))
    redis RPUSH "$queue" dead:1 dead:2 late:3
    redis ZADD "$scores" $((over - 2000)) dead:1 $((over - 2000)) dead:2 "$over" late:3
    act a fair
    wait_until 10 entered_section a
    (($(now_ms) >= over)) || fail "before its time was over"
    (($(now_ms) - over < 4000 * SLOW)) || fail "$(($(now_ms) - over)) ms after it"
    finish a
    assert_no_keys
}

@test "run does not queue: it takes what is free, and the queue goes on after it" {
    redisson_try "$foreign_owner"
    redisson_try "$foreign_waiter"
    redis DEL x
    join a
    holds second run -x
    finish second
    refute_entered a
    redisson_try "$foreign_waiter"
    redisson_unlock "$foreign_waiter"
    finish a
    assert_no_keys
}
