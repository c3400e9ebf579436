#!/usr/bin/env bats
# latch.bats: a count-down latch: set, counted down, waited for, and shared with Redisson's clients.

load ../../lib/rlock
load ../../lib/messages
load ../../lib/latch

# --- set -----------------------------------------------------------------------------------------------

@test "set: Redisson's string with the count, told as 1; all else of it ends by itself" {
    local key
    listen "$latch_channel"
    try latch set -n x --count 3
    assert_success
    assert_equal "$output$stderr" ""
    assert_equal "$(redis TYPE x) $(redis GET x) $(redis PTTL x)" "string 3 -1"
    assert_equal "$(heard "$latch_channel")" 1
    for key in $(keys); do
        [[ $key == x ]] || (($(redis PTTL "$key") > 0)) || fail "$key has no end"
    done
}

@test "set where there is one: 1, unchanged and not told; where it has opened: set anew" {
    rlock latch set -n x --count 2
    listen "$latch_channel"
    try latch set -n x --count 5
    assert_failure 1
    assert_message
    assert_stderr_has x
    assert_equal "$(redis GET x)" 2
    assert_equal "$(heard "$latch_channel")" ""
    rlock latch down -n x --by 2
    try latch set -n x --count 5
    assert_success
    assert_equal "$(redis GET x)" 5
}

# --- down ------------------------------------------------------------------------------------------------

@test "down: by one, or by K; at zero all is gone, and told as 0, once" {
    rlock latch set -n x --count 4
    listen "$latch_channel"
    try latch down -n x
    assert_success
    assert_equal "$output$stderr" ""
    assert_equal "$(redis GET x)" 3
    try latch down -n x --by 2
    assert_success
    assert_equal "$(redis GET x)" 1
    try latch down -n x
    assert_success
    assert_equal "$(heard "$latch_channel")" 0
    assert_equal "$(keys)" ""
    rlock latch set -n x --count 2
    try latch down -n x --by 5
    assert_equal "$status $stderr $(keys)" "0  "
}

@test "down on a missing latch: a warning, 0, nothing made and nothing told" {
    listen "$latch_channel"
    try latch down -n x
    assert_success
    assert_message
    assert_stderr_has x
    assert_equal "$(heard "$latch_channel")" ""
    assert_equal "$(keys)" ""
    try latch down -n x -q
    assert_success
    assert_equal "$stderr" ""
}

@test "down -- CMD counts when CMD has ended, and only when it succeeded" {
    rlock latch set -n x --count 3
    try latch down -n x --by 2 -- redis-cli -s "${RLOCK_SERVER#unix://}" GET x
    assert_success
    assert_output 3
    assert_equal "$(redis GET x)" 1
    try latch down -n x -- sh -c 'exit 7'
    assert_failure 7
    try latch down -n x -c 'kill -TERM $$'
    assert_failure 143
    assert_equal "$stderr" ""
    assert_equal "$(redis GET x)" 1
    try latch down -n x -c 'exit 0'
    assert_success
    assert_equal "$(keys)" ""
}

@test "down --always -- CMD counts however CMD ended; the status is CMD's" {
    rlock latch set -n x --count 9
    try latch down -n x --always -- sh -c 'exit 7'
    assert_failure 7
    assert_equal "$(redis GET x)" 8
    try latch down -n x --always -- sh -c 'kill -KILL $$'
    assert_failure 137
    assert_equal "$(redis GET x)" 7
    try latch down -n x --always -- true
    assert_success
    assert_equal "$(redis GET x)" 6
    run -127 rlock latch down -n x --always -- no-such-command
    assert_equal "$(redis GET x)" 5
}

@test "down -- CMD on a latch that is not there, or not any more: CMD runs, a warning, 0" {
    try latch down -n x -- echo ran
    assert_success
    assert_output ran
    assert_message
    rlock latch set -n x --count 1
    try latch down -n x -- rlock latch down -n x
    assert_success
    assert_message
    assert_equal "$(keys)" ""
}

@test "signals are passed on to CMD; when it ends by one nothing is counted" {
    rlock latch set -n x --count 2
    start latch down -n x -- sh -c 'trap "echo usr1 >>heard" USR1; trap "echo term >>heard; exit 0" TERM
        echo >ready; while :; do sleep 0.01; done'
    wait_until 5 test -s ready
    kill -USR1 "$pid"
    wait_until 5 grep -q usr1 heard
    assert_equal "$(redis GET x)" 2
    kill -TERM "$pid"
    reap "$pid"
    assert_equal "$status" 0
    assert_equal "$(redis GET x)" 1
    start latch down -n x -- sh -c 'echo >ready-too; exec sleep 60'
    wait_until 5 test -s ready-too
    kill -INT "$pid"
    reap "$pid"
    assert_equal "$status" 130
    assert_equal "$(redis GET x)" 1
}

@test "rlock is killed while CMD runs: CMD is ended, nothing counted" {
    rlock latch set -n x --count 1
    TREE=$TEST_MARK start latch down -n x -- sh -c 'setsid sleep 60 & echo >ready; wait'
    wait_until 5 test -s ready
    kill -KILL "$pid"
    reap "$pid"
    all_gone 5 "TREE=$TEST_MARK"
    assert_equal "$(redis GET x)" 1
}

@test "CMD knows name and kind, the server that was an option, and enclosing locks" {
    local verb
    for verb in down wait; do
        try latch $verb -q -s "$RLOCK_SERVER" -n x -- sh -c 'echo "$RLOCK_NAME $RLOCK_KIND $RLOCK_SERVER"'
        assert_success
        assert_output "x latch $RLOCK_SERVER"
        try run -n m -- rlock latch $verb -q -n x -- rlock run -x -n m -- sh -c 'echo "$RLOCK_KIND $RLOCK_NAME"'
        assert_success
        assert_output "run m"
    done
    # A count-down holds nothing: owner and token of the lock around it are not its own.
    try run -n m -- rlock latch down -q -n x -- sh -c 'echo "$RLOCK_KIND${RLOCK_OWNER+ of $RLOCK_OWNER}${RLOCK_TOKEN+ $RLOCK_TOKEN}"'
    assert_output latch
}

# --- wait --------------------------------------------------------------------------------------------------

@test "wait for one that is not there, or has opened: 0 at once, with a warning, and CMD runs" {
    took 0 500 rlock latch wait -n x
    assert_success
    assert_equal "$output" ""
    assert_stderr_has 'rlock: there is no latch x: it has opened, or was not set yet, which counts as open; --must-exist'
    try latch wait -q -n x
    assert_equal "$status $stderr" "0 "
    try latch wait -n x -x -- sh -c 'echo ran; exit 4'
    assert_failure 4
    assert_output ran
    rlock latch set -n x --count 1
    rlock latch down -n x
    took 0 500 rlock latch wait -n x
    assert_success
    assert_equal "$(keys)" ""
}

@test "wait: CMD of each of ten runs when the last count-down is done, within milliseconds, and not before" {
    local n opened
    rlock latch set -n x --count 2
    for n in {1..10}; do
        waits "$n"
    done
    rlock latch down -n x
    assert_equal "$(redis GET x)" 1
    refute_entered {1..10}
    opened=$(now_ns)
    rlock latch down -n x
    for n in {1..10}; do
        passes "$n" "$opened"
    done
    wait_until 2 no_subscriptions
    assert_equal "$(keys)" ""
}

@test "--must-exist: waits until it is set, and then until it is open" {
    local opened
    try latch wait -n x --must-exist -w 200ms -- touch ran
    assert_failure 75
    assert_stderr_has x
    waits a --must-exist
    rlock latch set -n x --count 2
    rlock latch down -n x
    refute_entered a
    opened=$(now_ns)
    rlock latch down -n x
    passes a "$opened"
    assert_file_not_exist ran
    assert_equal "$(keys)" ""
}

@test "--must-exist: set and opened before the waiter looks: it has heard of it" {
    local opened
    waits a --must-exist
    opened=$(now_ns)
    redis EVAL 'redis.call("SET", KEYS[1], 1) redis.call("PUBLISH", KEYS[2], 1)
        redis.call("DEL", KEYS[1]) redis.call("PUBLISH", KEYS[2], 0)' 2 x "$latch_channel"
    passes a "$opened"
}

@test "the subscription is lost at the moment in which it opens: the waiter finds it open" {
    local opened
    redis SET x 1
    waits a
    opened=$(now_ns)
    redis >/dev/null <<<"CLIENT KILL TYPE pubsub
DEL x
PUBLISH $latch_channel 0"
    passes a "$opened" 1500
}

@test "it is deleted without a message: the waiter finds it within 5 s" {
    local opened
    redis SET x 1
    waits a
    opened=$(now_ns)
    redis DEL x
    passes a "$opened" 5300
}

# --- Redisson's ----------------------------------------------------------------------------------------------

@test "a latch that Redisson made is counted down by both, and opens for both" {
    local opened
    redis SET x 3
    waits a
    rlock latch down -n x
    foreign_down
    assert_equal "$(redis GET x)" 1
    opened=$(now_ns)
    foreign_down
    passes a "$opened"
    rlock latch set -n x --count 2
    foreign_down
    listen "$latch_channel"
    rlock latch down -n x
    assert_equal "$(heard "$latch_channel")" 0
    assert_equal "$(keys)" ""
}
