#!/usr/bin/env bats
# counter.bats: 40 processes each add 1 to a file with no other lock. An addition lost is an overlap.

load ../../lib/rlock

setup_file() {
    build_section
    rlock_setup_file
}

setup() {
    rlock_setup
    adders=()
}

# adders N [OPTION...]: N background rlocks that each add one.
start_adders() {
    local n count=$1
    shift
    for ((n = 0; n < count; n++)); do
        log=adder start run -q -n x "$@" -- "$SECTION" --log history --add counter --journal journal
        adders+=("$pid")
    done
}

# Waits for all; ok becomes the number of those that ended with 0.
reap_adders() {
    ok=0
    for pid in "${adders[@]}"; do
        reap "$pid"
        [[ $status != 0 ]] || ok=$((ok + 1))
    done
}

@test "40 processes, 40 additions, tokens in order" {
    start_adders 40
    reap_adders
    assert_equal "$ok" 40
    check_history --min-sections 40 --journal journal history
    [[ $(cat counter) == 40 ]] || fail "broken promise: $(cat counter) of 40 additions"
    assert_no_keys
}

@test "the control: without a lock additions are lost, and the checker says so" {
    local n
    for n in {1..20}; do
        RLOCK_OWNER=$n RLOCK_TOKEN=$n "$SECTION" --log history --add counter --journal journal --ms 5 3>&- 4>&- &
        adders+=($!)
    done
    reap_adders
    run check_history --journal journal history
    assert_failure 1
    assert_output --partial overlap
}

both_entered() {
    (($(grep -c '^enter=' history) == 2))
}

@test "the control: with a lease that ends before the section, and nobody who stops it, the checker says so" {
    local n
    for n in 1 2; do
        foreign_hold x 50
        RLOCK_OWNER=$n RLOCK_TOKEN=$n "$SECTION" --log history --until let-go 3>&- 4>&- &
        adders+=($!)
        wait_until 5 assert_free x
    done
    wait_until 10 both_entered
    : >let-go
    reap_adders
    run check_history history
    assert_failure 1
}

@test "40 additions while the proxy loses requests and replies" {
    local seed=${RLOCK_TEST_SEED:-$RANDOM}
    echo "seed $seed"
    proxy_start
    proxy drop 0.1 "$seed"
    start_adders 40 --io-timeout "$(ms 1000)"
    reap_adders
    assert_equal "$ok" 40
    check_history --min-sections 40 --journal journal history
    [[ $(cat counter) == 40 ]] || fail "broken promise: $(cat counter) of 40 additions"
    (($(grep -c '^lost-' proxy.log) >= 10))
    proxy pass
}

@test "40 processes, 8 of them killed at random: each addition counts once" {
    local seed=${RLOCK_TEST_SEED:-$RANDOM} n victim
    echo "seed $seed"
    RANDOM=$seed
    start_adders 40 -l "$(ms 1000)"
    for n in {1..8}; do
        victim=${adders[RANDOM % 40]}
        kill -KILL "$victim" 2>/dev/null || true
        sleep "0.0$((RANDOM % 10))"
    done
    reap_adders
    ((ok >= 32)) || fail "only $ok ended well"
    check_history --min-sections "$ok" --journal journal history
    (($(wc -l <journal) >= ok && $(wc -l <journal) <= 40))
    wait_until 3 assert_no_keys
}

@test "the same, with lost replies as well" {
    local seed=${RLOCK_TEST_SEED:-$RANDOM} n victim
    echo "seed $seed"
    RANDOM=$seed
    proxy_start
    proxy drop 0.1 "$seed"
    start_adders 30 -l "$(ms 1000)"
    for n in {1..6}; do
        victim=${adders[RANDOM % 30]}
        kill -KILL "$victim" 2>/dev/null || true
        sleep "0.0$((RANDOM % 10))"
    done
    reap_adders
    ((ok >= 24)) || fail "only $ok ended well"
    check_history --min-sections "$ok" --journal journal history
    (($(grep -c '^lost-' proxy.log) >= 5))
    proxy pass
}
