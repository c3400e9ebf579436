# mixed.bash: rlocks and threads of a Java service on one lock, while some of both are killed: rounds of tests/campaign, whose
# judges say what must be true of them.
# shellcheck shell=bash

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
