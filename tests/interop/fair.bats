#!/usr/bin/env bats
# fair.bats: rlock's waiters and RFairLock's in one queue.

load ../lib/rlock
load ../lib/queue
load interop

# stand WHO...: each after the one before stands in the queue; their sections will be brief.
stand() {
    local who length
    for who; do
        length=$(redis LLEN "$queue")
        brief "$who"
        comes "$who" fair x
        wait_until 5 queued $((length + 1))
    done
}

@test "eight waiters of both in turn, of which one dies on each side: the others enter as they came" {
    enters a fair x lease="$DYING_MS"
    stand j1 b k1 c j2 d j3 e
    java_kill k
    signal KILL c
    gone 137 c
    leaves a
    leaves j1 b j2 d j3 e
    assert_equal "$(order)" "a j1 b j2 d j3 e"
    assert_no_keys
}

# That Redisson's waiter is dropped is its own affair; that it takes nobody's turn is rlock's.
@test "a Redisson waiter that lives longer than its patience loses its turn to Redisson's; rlock's does not" {
    enters a fair x lease=$((1000 * SLOW))
    stand k1 b j1 c
    wait_until 15 is_later "$(redis ZSCORE "$scores" "$(redis LINDEX "$queue" 0)")"
    shut_out j2 fair x # and drops k1
    assert_equal "$(redis LINDEX "$queue" 0 | grep -c @)" 1
    leaves a
    leaves b j1 c k1
    [[ $(order) == "a b "* ]] || fail "$(order)"
    assert_no_keys
}
