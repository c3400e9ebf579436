#!/usr/bin/env bats
# rights.bats: the rights that rlock-server(7) gives for each kind, and the scripts alone: users who
# have no other rights run its scripts at random, and users who lack one of them (tests/tools/rights.py).
#
# environment: RLOCK_TEST_SEED   what a failed test printed: the same again

seed=${RLOCK_TEST_SEED:-$RANDOM}
manual=$BATS_TEST_DIRNAME/../../man/rlock-server.7

load ../lib/rlock

# No rlock runs here: there is nothing to prepare, and nothing to check after a test.
setup() {
    export SCRIPTS PYTHONPYCACHEPREFIX=$BATS_FILE_TMPDIR/python
}

teardown() {
    :
}

rights() { # MODE KIND ROUNDS [MANUAL]
    run python3 "$TOOLS/rights.py" "$1" "${4:-$manual}" "$2" "$BATS_FILE_TMPDIR/main/sock" "$seed" "$3"
    echo "$output" | cut -c 1-2000
}

# The rules of a kind are enough, and without any command of them somebody is refused, before
# anything is taken.
exact() { # KIND
    rights enough "$1" 3
    assert_success
    rights minimal "$1" 3
    assert_success
}

@test "run" { exact run; }
@test "fair" { exact fair; }
@test "read" { exact read; }
@test "write" { exact write; }
@test "sem" { exact sem; }
@test "sem --plain" { exact 'sem --plain'; }
@test "sem --resize" { exact 'sem --resize'; }
@test "latch set" { exact 'latch set'; }
@test "latch down" { exact 'latch down'; }
@test "latch wait" { exact 'latch wait'; }

@test "a manual with a word too few, or too many, is found out" {
    sed 's/+zrem$//' "$manual" >"$BATS_TEST_TMPDIR/few"
    rights enough run 3 "$BATS_TEST_TMPDIR/few"
    assert_failure
    sed 's/+zrem$/+zrem +lpop/' "$manual" >"$BATS_TEST_TMPDIR/many"
    rights minimal run 3 "$BATS_TEST_TMPDIR/many"
    assert_failure
    assert_output --partial 'nobody misses +lpop'
}

@test "the rules for all kinds are those of each" {
    local kind
    for kind in run fair read write sem 'sem --plain' 'sem --resize' 'latch set' 'latch down' 'latch wait' \
        'status No without NAME' break; do
        python3 "$TOOLS/rights.py" rules "$manual" "$kind"
    done | grep '^+' | sort -u >"$BATS_TEST_TMPDIR/each"
    python3 "$TOOLS/rights.py" rules "$manual" all | grep '^+' | sort | diff - "$BATS_TEST_TMPDIR/each"
}
