#!/usr/bin/env bats
# mixed.bats: rlocks and a Java service on one lock that one holds. See mixed.bash.
#
# environment: INTEROP_ON=cluster   see interop.bash
#              RLOCK_TEST_SEED      what a failed test printed: the same workers and faults again

load mixed

@test "run, RLock and RFencedLock: no two overlap, and tokens grow" {
    plays run
}

@test "fair and RFairLock: no two overlap, and an rlock that was in the queue first enters first" {
    plays fair
}

@test "run on several servers and RedLock: no two overlap, and tokens grow" {
    [[ -z ${INTEROP_ON-} ]] || skip 'not for a cluster: these are servers that stand alone'
    plays run "$killed" redlock
}
