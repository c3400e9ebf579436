#!/usr/bin/env bats
# mixed.bats: twenty rlocks and ten threads of two Java services on one lock of each kind, while some of both
# are killed. See mixed.py.
#
# environment: RLOCK_TEST_SEED   what a failed test printed: the same load and faults again

load ../lib/rlock
load ../lib/ports
load ../lib/actors
load interop

setup_file() {
    build_section
    interop_server
}

teardown_file() {
    rlock_teardown_file
}

setup() {
    interop_setup
    seed=${RLOCK_TEST_SEED:-$RANDOM}
    some=$((60 / SLOW)) # sections that a slow machine, too, will do
    echo "seed $seed"
}

teardown() {
    rlock_teardown
}

# What stands there when somebody has not ended.
show_state() {
    redis TIME | tr '\n' ' '
    redis GET x
    redis HGETALL x
    redis ZRANGE '{x}:timeout' 0 -1 WITHSCORES
    redis LRANGE 'redisson_lock_queue:{x}' 0 -1
    redis ZRANGE 'redisson_lock_timeout:{x}' 0 -1 WITHSCORES
}

# mixed KIND: a dead service's locks are free after two seconds. What Redisson repeats, because a busy machine
# kept the answer back, counts twice: it has time.
mixed() {
    python3 "$TESTS/interop/mixed.py" "$1" --rlock "$RLOCK" --section "$SECTION" --seed "$seed" \
        --socket "$BATS_FILE_TMPDIR/main/sock" --seconds 4 --lease $((1000 * SLOW)) \
        --settle $((15000 * SLOW)) --java "$(java_command "watchdog=$((2000 * SLOW))" timeout=30000)" ||
        { show_state; tail -n 40 rlock.err | cut -c 1-150; return 1; }
    wait_until 8 none_marked "TEST_MARK=$TEST_MARK"
}

judge() {
    check_history --beat-dir beats --min-sections "$some" "$@"
    for world in '' :; do
        echo "sections of ${world:-rlock}: $(grep -c "exit=- owner=[^@ ]*${world:-@}" history)"
    done
}

@test "run and RFencedLock: no two overlap, and tokens grow" {
    mixed run
    judge history
}

@test "fair and RFairLock: no two overlap, and an rlock that was in the queue first enters first" {
    mixed fair
    judge --fifo-slack 0 --min-ordered "$some" history
}

@test "read, write and RReadWriteLock: writers are alone" {
    mixed rw
    judge --rule rw history
}

@test "sem and RPermitExpirableSemaphore: never more permits than there are, and all of them come back" {
    mixed sem
    judge --rule permits=5 history
    wait_until 8 rlock sem -n x --permits 5 --take 5 -x -- true
    assert_equal "$(redis GET x)" 5
}

@test "latch and RCountDownLatch: nobody enters before the last count-down has begun, and then all do" {
    local history
    mixed latch
    for history in round-*/history; do
        check_history --rule latch=10 --min-sections 5 "$history"
    done
}
