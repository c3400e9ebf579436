#!/usr/bin/env bats
# priority.bats: fair --priority: who goes before whom, and never before who holds it. For rollbacks.

load ../../lib/rlock
load ../../lib/queue
load ../../lib/status

@test "before all with a lower one, behind those with the same; who holds it is left alone" {
    holds first fair --priority -1000
    brief a b c d e f g
    joins a
    joins b --priority 5
    joins c --priority -5
    joins d --priority 1000
    joins e --priority 5
    joins f --priority=-5
    joins g --priority 0
    see x
    assert_seen "[w.get('priority') for w in by['x']['waiters']]" '[1000, 5, 5, None, None, -5, -5]'
    assert_seen "[w['position'] for w in by['x']['waiters']]" '[1, 2, 3, 4, 5, 6, 7]'
    assert_seen "all(w['since'] >= by['x']['holders'][0]['since'] for w in by['x']['waiters'])" True
    refute ended "${pid_of[first]}"
    assert_equal "$(redis HLEN x)" 1
    finish first
    gone 0 a b c d e f g
    assert_equal "$(order)" "first d b e a g c f"
    check_history history
    assert_no_keys
}

@test "status shows it in the table, and only where there is one" {
    holds first fair
    brief a b
    joins a
    joins b --priority 10
    try status x
    assert_success
    assert_output --regexp 'waits 1, priority 10 '
    assert_output --regexp 'waits 2 '
    grep -qx 'rlock: waiting for x (fair, 1st of 2): held by .*' b.err
    finish first b a
    assert_equal "$(order)" "first b a"
}

@test "with --preempt it asks the one that runs; those it overtakes do not any more" {
    holds a fair --preemptible
    brief b c
    joins b
    act c fair --priority 10 --preempt
    gone 79 a
    gone 0 c b
    assert_equal "$(order)" "a c b"
    grep -qx 'rlock: asked the holder of x to end' c.err
    assert_no_keys
}

@test "Redisson's waiters keep their scores and their order, and get in before those with a negative one" {
    local late=aaaaaaaa-2222-4333-8444-555555555555:8 scored
    holds first fair
    joins a
    redisson_try "$foreign_waiter"
    joins low --priority -1
    redisson_try "$late"
    scored="$(score "$foreign_waiter") $(score "$late")"
    brief a b low high
    joins high --priority 1
    joins b
    assert_equal "$(score "$foreign_waiter") $(score "$late")" "$scored"
    finish first high
    wait_until 5 entered_section a
    gone 0 a
    assert_equal "$(score "$foreign_waiter")" $((${scored% *} - 300000)) # for a, not for high
    assert_equal "$(redisson_try "$foreign_waiter")" ''
    redisson_unlock "$foreign_waiter"
    kept_out fair
    refute_entered b low
    assert_equal "$(redisson_try "$late")" ''
    redisson_unlock "$late"
    gone 0 b low
    assert_equal "$(order)" "first high a b low"
    assert_no_keys
}

@test "one that is killed or gives up leaves nothing, and the next one comes" {
    holds first fair
    brief a
    joins a
    joins b --priority 3
    joins c --priority 2
    joins d --priority -2
    signal KILL b
    signal TERM c
    gone 143 c
    signal INT d
    gone 130 d
    finish first
    gone 0 a
    assert_equal "$(order)" "first a"
    wait_until 1 assert_no_keys
}

@test "several names: in each queue it is first" {
    foreign_hold x 60000
    brief a b
    act a fair -n y
    wait_until 5 queued 1
    act b fair -n y --priority 1
    wait_until 5 queued 2
    foreign_release x
    gone 0 a b
    assert_equal "$(order)" "b a"
    assert_no_keys
}

@test "rlock acquire fair has it, too" {
    local handle
    holds first fair
    brief a
    joins a
    try acquire fair -n x -x --priority 1
    assert_failure 75
    "$RLOCK" acquire fair -n x --priority 1 >handle 2>acquire.err &
    pid_of[b]=$!
    wait_until 5 queued 2
    finish first
    reap "${pid_of[b]}"
    assert_equal "$status" 0
    handle=$(<handle)
    refute_entered a
    try release "$handle"
    assert_success
    gone 0 a
    assert_no_keys
}
