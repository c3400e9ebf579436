#!/usr/bin/env bats
# rights.bats: the rights that rlock-server(7) gives for each kind, and the scripts alone: users who
# have no other rights run its scripts, and users who lack one of them (tests/tools/rights.py).

manual=$BATS_TEST_DIRNAME/../../man/rlock-server.7

load ../lib/rlock

# No rlock runs here: there is nothing to check after a test.
setup() { export SCRIPTS PYTHONPYCACHEPREFIX=$BATS_FILE_TMPDIR/python; }
teardown() { :; }

exact() { # KIND [MANUAL]
    run python3 "$TOOLS/rights.py" exact "${2-$manual}" "$1" "$BATS_FILE_TMPDIR/main/sock"
    echo "$output" | cut -c 1-2000
}

@test "the rules of each kind are enough, and without any command of them somebody is refused, before anything changes" {
    local kind
    for kind in run fair read write sem 'sem --plain' 'sem --resize' 'latch set' 'latch down' 'latch wait'; do
        exact "$kind"
        assert_success || fail "$kind"
    done
}

@test "a manual with a word too few, or too many, is found out" {
    sed 's/+zrem$//' "$manual" >"$BATS_TEST_TMPDIR/few"
    exact run "$BATS_TEST_TMPDIR/few"
    assert_failure
    assert_output --partial 'Refused: '
    sed 's/+zrem$/+zrem +lpop/' "$manual" >"$BATS_TEST_TMPDIR/many"
    exact run "$BATS_TEST_TMPDIR/many"
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
