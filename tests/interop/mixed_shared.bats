#!/usr/bin/env bats
# mixed_shared.bats: rlocks and a Java service on one lock that several may hold. See mixed.bash.
#
# environment: INTEROP_ON=cluster   see interop.bash
#              RLOCK_TEST_SEED      what a failed test printed: the same workers and faults again

load mixed

@test "read, write and RReadWriteLock: writers are alone" {
    plays rw
}

@test "sem and RPermitExpirableSemaphore: never more permits than there are, and all of them come back" {
    plays sem
}

@test "sem --plain and RSemaphore: never more permits than there are, and all of them come back" {
    plays plain command-killed,waiter-ended
}
