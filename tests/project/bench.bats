#!/usr/bin/env bats
# bench.bats: tests/bench/run, in small: it measures what it says, and ends.

load ../lib/rlock

setup_file() { :; } # it has servers of its own
teardown_file() { :; }

setup() {
    clean_environment
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() { :; }

# bench SECTION: its tables, without Redisson's column.
bench() {
    RLOCK_NO_INTEROP=1 RLOCK_BIN=$RLOCK run --separate-stderr "$PROJECT/tests/bench/run" --quick "$@"
    assert_success
}

@test "scripts: each kind's are said once more, and cost something" {
    bench scripts
    for kind in run fair read write sem; do
        assert_line --regexp "^\| .$kind. \| [1-9][0-9.]* µs \|"
    done
}

@test "starts: beside a bare C program with rlock's own words" {
    bench starts
    assert_line --regexp '^\| bare C \| [0-9.]+ ms \| \*\*1\.00\*\* \|'
    assert_line --regexp '^\| rlock run \| [0-9.]+ ms \| \*\*[0-9.]+\*\* \|'
}

@test "waiters: hand-offs, and what those cost who wait" {
    bench waiters
    for kind in run fair; do
        for waiters in 1 10; do
            assert_line --regexp "^\| .$kind. \| $waiters \| [0-9.]+ ms \| [0-9.]+ ms \| \*\*[0-9.]+\*\* \|"
        done
        assert_line --regexp "^\| .$kind. \| 10 \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ % \|"
    done
}
