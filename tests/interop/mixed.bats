#!/usr/bin/env bats
# mixed.bats: rlocks and threads of a Java service on one lock of each kind, while some of both are killed: rounds of
# tests/campaign, whose judges say what must be true of them.
#
# environment: INTEROP_ON=cluster   see interop.bash
#              RLOCK_TEST_SEED      what a failed test printed: the same workers and faults again

load ../lib/rlock
load ../lib/campaign

killed=command-killed,holder-killed,waiter-killed,waiter-ended,service-killed

# plays KIND [FAULTS [TOPOLOGY]]: each fault has struck, and no judge has seen anything.
plays() {
    campaign --kind "$1" --faults "${2-$killed}" --topology "${3-redisson${INTEROP_ON:+-$INTEROP_ON}}" \
        --workers 6 --seconds 8 --round "${RLOCK_TEST_SEED:-$RANDOM}"
    assert_success
    assert_output --partial ' 0 anomalies'
}

@test "run, RLock and RFencedLock: no two overlap, and tokens grow" {
    plays run
}

@test "fair and RFairLock: no two overlap, and an rlock that was in the queue first enters first" {
    plays fair
}

@test "read, write and RReadWriteLock: writers are alone" {
    plays rw
}

@test "sem and RPermitExpirableSemaphore: never more permits than there are, and all of them come back" {
    plays sem
}

@test "sem --plain and RSemaphore: never more permits than there are, and all of them come back" {
    plays plain command-killed,waiter-ended
}

@test "run on several servers and RedLock: no two overlap, and tokens grow" {
    [[ -z ${INTEROP_ON-} ]] || skip 'not for a cluster: these are servers that stand alone'
    plays run "$killed" redlock
}
