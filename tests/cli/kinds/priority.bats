#!/usr/bin/env bats
# priority.bats: fair --priority: who goes before whom, and never before who holds it. For rollbacks.

load ../../lib/rlock
load ../../lib/queue
load ../../lib/status

@test "before all with a lower one, behind those with the same, in status and on their lines, too; who holds it is left alone" {
    holds first fair --priority -1000
    brief a b c d f g
    joins a
    joins b --priority 5
    joins c --priority -5
    joins d --priority 1000
    log=e start acquire fair -n x --priority 5
    pid_of[e]=$pid
    wait_until 5 queued 5
    joins f --priority=-5
    joins g --priority 0
    see x
    assert_seen "[w.get('priority') for w in by['x']['waiters']]" '[1000, 5, 5, None, None, -5, -5]'
    assert_seen "[w['position'] for w in by['x']['waiters']]" '[1, 2, 3, 4, 5, 6, 7]'
    try status x
    assert_output --regexp 'waits 1, priority 1000 '
    assert_output --regexp 'waits 4 '
    grep -q '^rlock: waiting for x (fair, 1st of 2): held by ' b.err
    finish first
    gone 0 e
    assert_equal "$(order)" "first d b"
    rlock release "$(<e.out)"
    gone 0 a b c d f g
    assert_equal "$(order)" "first d b a g c f"
    check_history history
    assert_no_keys
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
