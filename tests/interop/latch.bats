#!/usr/bin/env bats
# latch.bats: `rlock latch` is Redisson's RCountDownLatch.

load ../lib/rlock
load ../lib/latch
load interop

# all_pass WHO...: those who wait have passed, shortly after the instant (ns).
all_pass() {
    local began=$1 who after=()
    shift
    for who; do
        wait_until 5 entered_section "$who"
        after+=($((($(stamp "$who" enter) - began) / 1000000)))
        is_java "$who" || gone 0 "$who"
    done
    echo "passed after ${after[*]} ms"
    for who in "${after[@]}"; do
        ((who >= 0 && who < 1500)) || fail "passed after ${after[*]} ms"
    done
}

@test "a latch set by either is counted down by both, and opens for both by a message" {
    local setter last who began
    for setter in a j0; do
        for last in a j0; do
            : >history
            set_by "$setter" 3
            for who in b j1 c j2; do
                if is_java "$who"; then tell "$who" take latch x; else waits "$who"; fi
            done
            down_by a
            down_by j0
            assert_answer 1 j0 count latch x
            refute_entered b j1 c j2
            began=$(now_ns)
            down_by "$last"
            all_pass "$began" b j1 c j2
            assert_answer 0 j0 count latch x
            assert_rest_ends
        done
    done
}

set_by() { # WHO COUNT
    if is_java "$1"; then
        assert_answer true "$1" set latch x count="$2"
    else
        rlock latch set -n x --count "$2"
    fi
}

down_by() { # WHO
    if is_java "$1"; then
        assert_answer true "$1" down latch x
    else
        rlock latch down -n x
    fi
}

@test "a latch that stands is set anew by neither; one that is open lets both pass at once" {
    set_by a 2
    assert_answer false j0 set latch x count=5
    try latch set -n x --count 7
    assert_failure 1
    assert_answer 2 j0 count latch x
    try latch wait -w 0 -n x
    assert_failure 75
    assert_answer busy j1 take latch x wait=$((500 * SLOW)) # with less it may forget that it listens
    rlock latch down -n x --by 5
    assert_answer taken j1 take latch x wait=0
    rlock latch wait -n x -w 0
    set_by j0 1
    try latch set -n x --count 7
    assert_failure 1
    down_by a
    assert_rest_ends
}
