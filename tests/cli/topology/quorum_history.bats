#!/usr/bin/env bats
# quorum_history.bats: ten processes that want one lock on five servers, while servers hang, are
# killed and emptied, and rlocks and their sections are killed.
#
# environment: RLOCK_TEST_SEED   what a failed test printed: the same load and faults again

load ../../lib/rlock
load ../../lib/actors
load ../../lib/quorum

# faulty_load KIND: see quorum_load.py.
faulty_load() {
    local seed=${RLOCK_TEST_SEED:-$RANDOM}
    echo "seed $seed"
    python3 "$TOOLS/quorum_load.py" "$@" --rlock "$RLOCK" --section "$SECTION" --seed "$seed" \
        --seconds $((8 * SLOW)) --lease $((1000 * SLOW)) --settle $((8000 * SLOW)) ||
        { tail -n 20 rlock.err; return 1; }
}

judge() {
    check_history --beat-dir beats --min-sections $((30 / SLOW)) "$@"
}

@test "run: no two overlap, tokens grow" {
    faulty_load run
    judge history
}

@test "read and write: writers are alone, readers are not, and each has a token of its own" {
    faulty_load rw
    judge --rule rw history
    run judge history
    assert_failure 1
    assert_output --partial overlap
}

# --- the controls: what a quorum does not promise, the checker sees -----------------------------

@test "the control: three lose their data at once while it is held: two are in, and the checker says so" {
    holds a run -l 30s
    empty m2 m3 m5
    brief b
    act b run -x
    gone 0 b
    assert_equal "$(order)" "a b"
    brief a
    reap "${pid_of[a]}"
    run check_history history
    assert_failure 1
    assert_output --partial overlap
}

@test "the control: tokens of servers that nobody knows of any more" {
    local n
    brief a b
    for n in 1 2 3; do
        act a run
        gone 0 a
    done
    empty m1 m2 m3 m4 m5
    act b run
    gone 0 b
    run check_history history
    assert_failure 1
    assert_output --partial token
}
