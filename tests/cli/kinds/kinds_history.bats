#!/usr/bin/env bats
# kinds_history.bats: processes that want one lock, of each kind, while all around them breaks: rounds of tests/campaign, in small.
#
# environment: RLOCK_TEST_SEED   what a failed test printed: the same faults again

load ../../lib/rlock
load ../../lib/campaign

# rounds TOPOLOGY MINUTES: five at a time; the judges see nothing wrong, faults have bitten, and nothing is left.
rounds() {
    campaign --seed "${RLOCK_TEST_SEED:-$RANDOM}" --topology "$1" --minutes "$2" --seconds 4 --jobs 5
    echo "$output"
    assert_success
    assert_output --regexp "[1-9][0-9]* sections, [1-9][0-9]* bites"
    # Whoever is killed while the thread sanitizer starts leaves a file of its.
    [[ $output == *'seen once, and not again alone'* ]] || assert_equal "$(ls -I 'tsan.rodata.*' rounds)" ""
}

@test "each kind: no two that exclude each other overlap, tokens grow, the queue is kept, nothing is left" {
    rounds tcp 0.15
}

@test "the same of five servers" {
    rounds quorum5 0.1
}
