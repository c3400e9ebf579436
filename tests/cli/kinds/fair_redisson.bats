#!/usr/bin/env bats
# fair_redisson.bats: rlock's waiters and Redisson's in one queue: each keeps its turn.

load ../../lib/rlock
load ../../lib/queue

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
