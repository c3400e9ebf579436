#!/usr/bin/env bats
# mixed.bats: twenty rlocks and ten threads of two Java services on one lock of each kind, while some of both
# are killed. See mixed.py; quorum.bats has RedLock's.

load ../lib/rlock
load ../lib/ports
load ../lib/actors
load interop
load mixed

setup_file() {
    build_section
    interop_server
}

teardown_file() {
    rlock_teardown_file
}

teardown() {
    rlock_teardown
}

@test "run, RLock and RFencedLock: no two overlap, and tokens grow" {
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

@test "sem --plain and RSemaphore: never more permits than there are, and all of them come back" {
    mixed sem --plain
    judge --rule permits=5 history
    assert_equal "$(redis GET x)" 5
}

@test "latch and RCountDownLatch: nobody enters before the last count-down has begun, and then all do" {
    local history
    mixed latch
    for history in round-*/history; do
        check_history --rule latch=10 --min-sections 5 "$history"
    done
}
