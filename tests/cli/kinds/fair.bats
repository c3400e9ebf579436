#!/usr/bin/env bats
# fair.bats: first come, first served: the order, who leaves the queue, and fair's dealings with run and with
# Redisson's waiters.

load ../../lib/rlock
load ../../lib/queue

# --- order -------------------------------------------------------------------------------------

@test "eight that come one after the other enter in that order, none beside another, at two scripts a hand-off" {
    local begin enough
    holds first fair
    join a b c d e f g h
    redis CONFIG RESETSTAT
    begin=$(now_ms)
    finish first a b c d e f g h
    # Who still waits is heard of now and then.
    enough=$((24 + ($(now_ms) - begin) / 200))
    (($(calls evalsha) <= enough)) || fail "$(calls evalsha) scripts for 8 hand-offs, not $enough"
    assert_equal "$(order)" "first a b c d e f g h"
    check_history --min-sections 9 history
    assert_no_keys
}

# --- leaving -----------------------------------------------------------------------------------

@test "who leaves is out of the queue at once, the others keep their order: 75, 143, 130" {
    local stay
    holds first fair
    join a b
    joins timeout -w "$(ms 1500)"
    join c
    joins term
    joins int
    join d
    stay=$(printf '%s\n' "$(at_place 1)" "$(at_place 2)" "$(at_place 4)" "$(at_place 7)")
    signal TERM term
    signal INT int
    gone 143 term
    gone 130 int
    gone 75 timeout
    assert_equal "$(redis LRANGE "$queue" 0 -1)" "$stay"
    assert_equal "$(redis ZCARD "$scores")" 4
    finish first a b c d
    assert_equal "$(order)" "first a b c d"
    assert_no_keys
}

@test "--no-wait does not go before those who queue, though the lock is free" {
    redis RPUSH "$queue" "$foreign_waiter"
    redis ZADD "$scores" $(($(now_ms) + 60000)) "$foreign_waiter"
    kept_out fair
    assert_message
    assert_keys "$queue" "$scores"
}

# --- run and fair ------------------------------------------------------------------------------

@test "run and fair of one name exclude each other; who waits by run is behind the queue" {
    holds first fair
    kept_out run
    act second run
    wait_until 5 waiters x 1
    join a b
    finish first a b
    wait_until 5 entered_section second # woken as the queue is empty
    assert_gap b second 1000
    kept_out fair
    finish second
    assert_equal "$(order)" "first a b second"
    check_history --min-sections 4 history
    assert_no_keys
}

@test "run and fair re-enter each other, past all who wait: same owner and token" {
    export CLI="redis-cli -s ${RLOCK_SERVER#unix://}"
    start fair -n x -- sh -c 'look="\$CLI HVALS x; echo \$RLOCK_OWNER \$RLOCK_TOKEN"
        until [ -e go ]; do sleep 0.01; done
        eval "$look"
        rlock run -x -n x -- rlock fair -x -n x -- sh -c "$look"
        eval "$look"'
    wait_until 5 assert_held x
    join a b
    : >go
    reap "$pid"
    assert_equal "$status" 0
    assert_equal "$(sed -n '1p;3p;5p' out | tr '\n' ' ')" '1 3 1 '
    assert_equal "$(sed -n '2p;4p;6p' out | sort -u | wc -l)" 1
    finish a b
    try run -n x -- rlock fair -x -n x -- sh -c '$CLI HVALS x; exit 9'
    assert_failure 9
    assert_output 2
    assert_no_keys
}

# --- several names -----------------------------------------------------------------------------

@test "several names: all or none, and no place is kept in the queues of those not waited for" {
    foreign_hold y 60000
    brief a
    act a fair -n y
    wait_until 5 waiters y 1
    assert_equal "$(redis LLEN 'redisson_lock_queue:{y}')" 1
    wait_until 2 assert_free x
    try fair -x -n x -- true
    assert_success
    wait_until 2 queued 0
    foreign_release y
    finish a
    assert_no_keys
}

# --- Redisson's --------------------------------------------------------------------------------

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
