#!/usr/bin/env bats
# fair.bats: first come, first served: the order, who leaves the queue, and fair's dealings with run. Redisson's waiters:
# tools/scripts.

load ../../lib/rlock
load ../../lib/queue

# --- order -------------------------------------------------------------------------------------

@test "eight that come one after the other enter in that order, none beside another" {
    holds first fair
    join a b c d e f g h
    finish first a b c d e f g h
    assert_equal "$(order)" "first a b c d e f g h"
    check_history --min-sections 9 history
    assert_no_keys
}

# --- leaving -----------------------------------------------------------------------------------

@test "who leaves is out of the queue at once, the others keep their order: 75, 143, 130" {
    holds first fair
    join a b
    joins timeout -w "$(ms 1500)"
    join c
    joins term
    joins int
    join d
    signal TERM term
    signal INT int
    gone 143 term
    gone 130 int
    gone 75 timeout
    assert_equal "$(redis LLEN "$queue") $(redis ZCARD "$scores")" "4 4"
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
