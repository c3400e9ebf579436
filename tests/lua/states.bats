#!/usr/bin/env bats
# states.bats: tests/states/run, in small: no promise is broken in any state of two clients; and what it is worth.

load ../lib/rlock

setup_file() { :; } # it has servers of its own
teardown_file() { :; }
setup() { :; }
teardown() { :; }

states() {
    TMPDIR=$BATS_TEST_TMPDIR run "$PROJECT/tests/states/run" --scripts "$SCRIPTS" "$@"
    echo "$output"
}

@test "all states of two clients whose requests are lost, late or repeated, and who die: no promise is broken" {
    states --quick
    assert_success
    assert_output --regexp '^run 2,3,1,0: [0-9]{3,} states'
}

@test "and of two faults at once, for each kind; and of three clients" {
    local kind scenes=()
    states --size 3,3,1,0 --scene run # who leaves hands on what it was told
    assert_success
    for kind in run fair 'read, write' sem 'sem --plain' 'run in run'; do
        scenes+=(--scene "$kind")
    done
    states --size 2,3,2,0 "${scenes[@]}"
    assert_success
}

@test "scripts with a fault in them are found" {
    states --controls
    assert_success
    refute_output --partial NOT
}
