#!/usr/bin/env bats
# scripts.bats: the scripts alone, driven by python on the server (tests/tools/scripts): the keys, values and
# messages of rlock-internals(7) one by one, what Redisson has made, the faults of the known scripts, keys of other
# kinds, no memory. What they promise whatever comes together: states.bats.

load ../lib/rlock

# All examples at once, for python takes longer to start than they do: what is wrong with each is in
# a file of its name, in a folder of its module's.
setup_file() {
    rlock_setup_file
    export SCRIPTS PYTHONPYCACHEPREFIX=$BATS_FILE_TMPDIR/python
    python3 "$TOOLS/scripts" examples "$BATS_FILE_TMPDIR/main/sock" "$BATS_FILE_TMPDIR/examples"
}

# No rlock runs here: there is nothing to prepare, and nothing to check after a test.
setup() {
    :
}

teardown() {
    :
}

examples() { # MODULE: all of them, one at least
    local wrong seen=$BATS_TEST_TMPDIR/seen
    mv "$BATS_FILE_TMPDIR/examples/$1" "$seen"
    assert_dir_exists "$seen"
    wrong=$(cat "$seen"/*)
    [[ -z $wrong ]] || fail "$wrong"
}

@test "run, fair, read, write: keys, values and messages; whom --preempt asks" { examples locks; }
@test "sem, latch: keys, values and messages" { examples counts; }
@test "a hold is put back on a server that has lost it" { examples restore; }
@test "--once-per, --once-key, --max-skips: what is noted, and who runs" { examples once; }
@test "--priority: who goes before whom" { examples priority; }
@test "what Redisson holds and waits for is respected" { examples foreign; }
@test "what is wrong with Redisson's scripts is not here; what comes late or twice counts once" { examples faults; }
@test "a key of another kind is not touched; without memory nothing is half taken" { examples kinds; }
@test "what inspecting shows, which changes nothing" { examples inspect; }
@test "many that wait or have died: what a script costs" { examples crowd; }
@test "many readers: what a script costs, and all are soon in" { examples readers; }
@test "many permits: what a script costs, and whose turn it is" { examples sem; }

@test "there are no others" {
    rmdir "$BATS_FILE_TMPDIR/examples"
}
