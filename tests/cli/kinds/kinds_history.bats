#!/usr/bin/env bats
# kinds_history.bats: twenty processes that want one lock, of each kind, while rlocks and their
# sections are killed, and connections, scripts, requests and replies are lost.
#
# environment: RLOCK_TEST_SEED   what a failed test printed: the same load and faults again

load ../../lib/rlock

setup_file() {
    build_section
    rlock_setup_file
}

setup() {
    rlock_setup
    seed=${RLOCK_TEST_SEED:-$RANDOM}
    some=$((30 / SLOW)) # sections that a slow build, too, will do
    echo "seed $seed"
}

# load_on KIND [OPTION...]: see load.py.
load_on() {
    python3 "$TOOLS/load.py" "$@" --rlock "$RLOCK" --section "$SECTION" --seed "$seed" \
        --socket "$BATS_FILE_TMPDIR/main/sock" --lease $((1000 * SLOW)) ||
        { tail -n 20 rlock.err; return 1; }
}

# faulty_load KIND SETTLE_MS: for five seconds, through a proxy that loses some requests and replies.
# When the faults are over all must have ended in SETTLE_MS, and when this returns nothing of it is
# alive.
faulty_load() {
    proxy_start
    load_on "$1" --proxy proxy.fifo --seconds $((5 * SLOW)) --settle $(($2 * SLOW))
    assert_bitten lost-request 3
    assert_bitten lost-reply 3
    (($(requests ' eval ') > 0)) || fail "no script was missing"
    wait_until 8 none_marked "TEST_MARK=$TEST_MARK"
    wait_until 3 no_subscriptions
}

# rests COMMAND...: as it says; what a dead waiter left behind all others goes by itself.
rests() {
    wait_until 16 "$@" 2>/dev/null || "$@"
}

judge() {
    check_history --beat-dir beats "$@"
}

# condemn REASON OPTION...: the history must be found out, for this reason.
condemn() {
    local reason=$1
    shift
    run judge "$@"
    assert_failure 1
    assert_output --partial "$reason"
}

@test "run: no two overlap" {
    faulty_load run 8000
    judge --min-sections "$some" history
    rests assert_no_keys
}

@test "fair: no two overlap, and who was in the queue first enters first" {
    faulty_load fair 12000
    judge --fifo-slack 0 --min-ordered "$some" --min-sections "$some" history
    rests assert_no_keys
}

@test "read and write: writers are alone, readers are not" {
    faulty_load rw 12000
    judge --rule rw --min-sections "$some" history
    condemn overlap history
    rests assert_no_keys
}

@test "read and write: a writer that waits goes before readers that come later" {
    may_bury # a busy machine may answer too late
    load_on rw --calm --seconds 3
    judge --rule rw --fifo-slack 0 --min-ordered "$some" --min-sections "$some" history
    assert_no_keys
}

@test "sem: never more permits than there are, and all of them come back" {
    faulty_load sem 8000
    judge --rule permits=5 --min-sections "$some" history
    condemn 'permits of 4 taken' --rule permits=4 history
    assert_equal "$(permits)" 5
    wait_until 3 rlock sem -n x --permits 5 --take 5 -x -- true
    rests assert_keys x
    assert_equal "$(redis GET x)" 5
}

# Those available, and those held, be it by the dead.
permits() {
    redis EVAL 'return redis.call("GET", "x") + redis.call("ZCARD", "{x}:timeout")' 0
}

@test "latch: nobody enters before the last count-down has begun, and then all do" {
    local history
    faulty_load latch 8000
    for history in history.*; do
        judge --rule latch=10 --min-sections 5 "$history"
    done
    assert_no_keys
}

# --- the controls ------------------------------------------------------------------------------

@test "the control: without a lock each rule is broken, and the checker says so" {
    load_on run --unlocked --seconds 0.5
    condemn overlap history
    rm history
    load_on fair --unlocked --seconds 0.5
    condemn 'out of order' --fifo-slack 0 history
    rm history
    load_on rw --unlocked --seconds 0.5
    condemn overlap --rule rw history
    condemn 'out of order' --rule rw --fifo-slack 0 history
    rm history
    load_on sem --unlocked --seconds 0.5
    condemn 'permits of 5 taken' --rule permits=5 history
    rm history
    load_on latch --unlocked --seconds 0.5
    condemn 'of 10 count-downs' --rule latch=10 history.1
}
