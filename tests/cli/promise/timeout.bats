#!/usr/bin/env bats
# timeout.bats: --timeout ends the command and all that it has started, whatever becomes of rlock, and then
# gives the lock back.

load ../../lib/rlock

# family OPTION...: a background rlock whose command, and a child in another session, ignore SIGTERM.
family() {
    start run -n x "$@" -- env "$tree" SECTION="$SECTION" sh -c 'trap "" TERM
        setsid sh -c "trap \"\" TERM; sleep 600; sleep 600" &
        "$SECTION" --log history --beat beat --ignore-term --until never &
        while :; do wait; done'
    wait_until 10 test -s history
}

# 124, and one line that says why.
assert_timed_out() { # NAME [TEXT...]
    assert_equal "$status" 124
    assert_message
    assert_stderr_has "stopped the command of $1 on $RLOCK_SERVER: it ran longer than --timeout" "${@:2}"
}

reap_timed_out() { # [TEXT...]
    reap "$pid"
    stderr=$(cat err)
    assert_timed_out x "$@"
    assert_no_processes "$tree"
    assert_no_keys
}

@test "every command that runs one: 124, one line, the lock is given back" {
    local kind
    for kind in run fair read write 'sem --permits 2' 'sem --plain --permits 2' 'run --on-lost warn' 'run --no-renew' \
        'latch wait -q' 'latch down'; do
        redis FLUSHALL
        # shellcheck disable=SC2086 # several words
        took 200 5000 rlock $kind -n x --timeout 200ms -- sleep 600
        assert_timed_out x 200ms
        [[ $kind == *sem* ]] || assert_no_keys
        [[ $kind != *sem* ]] || assert_equal "$(redis GET x)" 2
    done
}

@test "a command that is stopped in its first moments, and ends by itself: nobody waits for more" {
    # SIGTERM stays ignored; 5 ms after its start the witness would come.
    took 200 2500 env --ignore-signal=TERM "$RLOCK" run -n x --timeout 1ms -- sleep 0.2
    assert_timed_out x
}

@test "124 also where the command takes SIGTERM for an order to end well, and where it needs SIGKILL" {
    try run -n x --timeout 200ms -- sh -c 'trap "exit 0" TERM; sleep 600 & wait'
    assert_timed_out x
    try run -n x --timeout 200ms --kill-after 0 -c 'trap "" TERM; sleep 600'
    assert_timed_out x SIGKILL
}

@test "a command that is done in time has its own status, and what it leaves behind is left alone" {
    try run -n x --timeout 30s -- sh -c 'exit 5'
    assert_equal "$status$stderr" 5
    try run -n x --timeout 30s -- sh -c 'kill -TERM $$'
    assert_equal "$status$stderr" 143
    try run -n x --timeout "$(ms 800)" -- sh -c 'sleep 600 >/dev/null 2>&1 & echo $! >left'
    assert_equal "$status$stderr" 0
    ! wait_until 1 ended "$(cat left)" 2>/dev/null || fail "it was ended"
    kill "$(cat left)"
}

@test "SIGTERM to all descendants, --kill-after later SIGKILL; the lock is held until they are dead" {
    local begin
    family -l "$(ms 3000)" --timeout "$(ms 1500)" --kill-after "$(ms 1000)" # time for a try
    begin=$(entered history)
    wait_until 10 termed_at_all
    run -75 rlock run -x -n x -- true
    wait_until 10 ended "$pid"
    (($(termed history) - begin > 1300000000 * SLOW)) || fail "SIGTERM too early"
    (($(termed history) - begin < 2500000000 * SLOW)) || fail "SIGTERM too late"
    (($(beat beat) - $(termed history) > 800000000 * SLOW)) || fail "less than --kill-after"
    (($(beat beat) - $(termed history) < 1600000000 * SLOW)) || fail "more than --kill-after"
    reap_timed_out SIGKILL
}

termed_at_all() {
    [[ -n $(termed history) ]]
}

@test "the wait does not count" {
    local waiter
    hold x
    log=waiter start run -n x --timeout "$(ms 1000)" -- sh -c "sleep 0.0$SLOW; exit 6"
    waiter=$pid
    wait_until 5 grep -q waiting waiter.err
    sleep "$((11 * SLOW / 10)).$((11 * SLOW % 10))" # longer than the limit, at which nothing may happen
    ! ended "$waiter" || fail "it has ended"
    let_go x
    reaps 6 "$waiter"
    reap "$holder"
}

@test "rlock is stopped: the guardian keeps the limit" {
    family --timeout "$(ms 800)" --kill-after "$(ms 200)"
    kill -STOP "$pid"
    wait_until 5 none_marked "$tree"
    in_state "$pid" T
    assert_held x
    kill -CONT "$pid"
    reap_timed_out
}

@test "a command that has stopped, and rlock with it: both go on, and end" {
    start run -n x --timeout "$(ms 1500)" -- env "$tree" sh -c 'kill -STOP $$; sleep 600'
    wait_until 5 in_state "$pid" T
    reap_timed_out
}

@test "a lock that is lost while the command ends for its time: 76" {
    family -l "$(ms 30000)" --timeout "$(ms 1500)" --kill-after "$(ms 5000)"
    wait_until 10 termed_at_all
    rlock break --force x
    reaps 76 "$pid"
    stderr=$(cat err)
    assert_stderr_has "lost x"
    assert_no_processes "$tree"
}

@test "a signal that comes in the meantime is passed on, and changes nothing" {
    start run -n x --timeout "$(ms 1000)" -- sh -c 'trap ": >heard" INT; : >ready; while :; do sleep 0.01; done'
    wait_until 5 test -e ready
    kill -INT "$pid"
    wait_until 5 test -e heard
    reap_timed_out
    # And one that the whole group gets while the command is being stopped is heard once
    env --default-signal=INT setsid "$RLOCK" run -n x --timeout "$(ms 300)" --kill-after "$(ms 3000)" -- bash -c '
        trap "echo INT >>twice" INT; trap ": >warned" TERM; until [[ -s over ]]; do sleep 0.01; done' 2>err 3>&- 4>&- &
    pid=$!
    wait_until 5 test -e warned
    kill -INT -- "-$pid"
    wait_until 5 test -s twice
    echo >over
    reaps 124 "$pid"
    assert_equal "$(cat twice)" INT
}

@test "a command that ends in the very moment: its status or 124, and then the line" {
    local n ms
    for n in {1..40}; do
        ms=$((20 + n % 8))
        try run -n x --timeout "${ms}ms" -- sleep "0.0$ms"
        [[ $status$stderr == 0 ]] || assert_timed_out x
        assert_free x
    done
    assert_no_keys
}

@test "a config file may have it, for all; 0 is no limit" {
    echo 'timeout = 200ms' >"$RLOCK_CONFIG"
    try run -n x -- sleep 600
    assert_timed_out x 200ms
    rlock run -n x --timeout 0 -- sleep 0.4
    rlock latch wait -n x # which runs nothing
}

@test "latch: --kill-after is not bound to a lease; a count-down that timed out does not count" {
    rlock latch set -n x --count 2
    try latch down -n x --timeout 200ms --kill-after 11s -- sleep 600
    assert_timed_out x
    assert_equal "$(redis GET x)" 2
    try latch down -n x --always --timeout 200ms -- sleep 600
    assert_timed_out x
    assert_equal "$(redis GET x)" 1
}
