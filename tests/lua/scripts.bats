#!/usr/bin/env bats
# scripts.bats: the scripts alone, driven by python on the server (tests/tools/scripts): the keys, values and
# messages of rlock-internals(7) one by one, what Redisson has made, the faults of the known scripts, keys of other
# kinds, no memory, what a script costs. What they promise whatever comes together: states.bats.

load ../lib/rlock

# No rlock runs here: there is nothing to prepare, and nothing to check after a test.
setup() { :; }
teardown() { :; }

@test "all examples: keys, values and messages, what Redisson sees and does, and what a script costs" {
    SCRIPTS=$SCRIPTS PYTHONPYCACHEPREFIX=$BATS_TEST_TMPDIR run python3 "$TOOLS/scripts" "$BATS_FILE_TMPDIR/main/sock"
    echo "$output"
    assert_success
    assert_line --regexp '^[0-9]{2,} examples, 0 wrong$'
}

# Lua notices only when it comes to the call, which may be in a branch that is hardly ever taken.
@test "each script includes the functions that it calls" {
    local script
    for script in "$SCRIPTS"/*.lua; do
        comm -13 <(grep -oE '^function [a-z_]+\.[a-z_]+' "$script" | cut -d ' ' -f 2 | sort -u) \
            <(grep -oE '\b[a-z_]+\.[a-z_]+\(' "$script" | tr -d '(' |
                grep -vE '^(at|cjson|math|redis|string|struct|table)\.' | sort -u) | sed "s,^,${script##*/} ,"
    done >"$BATS_TEST_TMPDIR/missing"
    assert_equal "$(cat "$BATS_TEST_TMPDIR/missing")" ''
}
