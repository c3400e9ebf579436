#!/usr/bin/env bats
# sem.bats: `rlock sem` is Redisson's RPermitExpirableSemaphore, `rlock sem --plain` its RSemaphore.

load ../lib/rlock
load ../lib/sem
load interop

setup() {
    interop_setup
    form[sem]='sem --plain --permits 3'
    form[permits]='sem --permits 3'
}

@test "permits of both are counted together, and none too many" {
    local kind
    for kind in sem permits; do
        rm -f history end-*
        assert_answer true j0 set "$kind" x permits=3
        enters a "$kind" x
        enters j1 "$kind" x
        available_to_both "$kind" 1
        shut_out b "$kind" x permits=2
        shut_out j2 "$kind" x permits=2
        enters j2 "$kind" x
        available_to_both "$kind" 0
        shut_out b "$kind" x
        shut_out j3 "$kind" x
        leaves a j1
        available_to_both "$kind" 2
        enters b "$kind" x permits=2
        shut_out j3 "$kind" x
        leaves b j2
        available_to_both "$kind" 3
        assert_keys x
        redis DEL x
    done
}

available_to_both() { # KIND N
    assert_equal "$(redis GET x)" "$2"
    assert_answer "$2" j0 available "$1" x
}

@test "the number of permits is everybody's: whoever comes first sets it" {
    assert_answer true j0 set permits x permits=3
    try sem --permits 4 -x -n x -- true
    assert_failure 64
    assert_stderr_has 3 4
    rlock sem -n x --resize 4
    assert_answer 4 j0 available permits x
    redis DEL x
    try sem --permits 2 -x -n x -- true
    assert_success
    assert_answer false j0 set permits x permits=3
    assert_answer 2 j0 available permits x
    redis DEL x
}

@test "one who waits for several gets them when both have given back enough" {
    assert_answer true j0 set permits x permits=3
    enters j1 permits x
    enters b permits x
    comes a permits x permits=3
    wait_until 10 awaited x
    leaves j1 b
    wait_until 2 entered_section a
    tell j2 take permits x permits=3
    refute_entered j2
    leaves a
    wait_until 2 entered_section j2
    gives_back j2 permits x
    available_to_both permits 3
    redis DEL x
}

@test "a permit whose lease Java renews is kept, and is back when that is over" {
    assert_answer true j0 set permits x permits=1
    enters j1 permits x lease=$((400 * SLOW))
    assert_answer true j1 renew permits x lease=$((2000 * SLOW))
    form[permits]='sem --permits 1'
    read -r end <<<"$(ends x)"
    awaits a permits x
    enters_at "$end" a
    [[ $(ask j1 release permits x) == error* ]] || fail "it gave back what it had no more"
    assert_permits 0 1
    leaves a
    assert_equal "$(redis GET x)" 1
}
