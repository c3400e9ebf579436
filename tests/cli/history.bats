#!/usr/bin/env bats
# history.bats: is the checker any good? Recorded histories, sound and unsound, that it must tell apart.

load ../lib/rlock

setup_file() { :; }
teardown_file() { :; }
setup() { cd "$BATS_TEST_TMPDIR" || return; }
teardown() { :; }

@test "sound histories pass" {
    local file
    for file in "$TESTS"/history/sound-*.txt; do
        run check_history "$file"
        assert_success
    done
}

@test "each unsound history is found out, for its own reason" {
    local file reason
    for file in "$TESTS"/history/unsound-*.txt; do
        reason=$(sed -n '1s/^# //p' "$file")
        run check_history "$file"
        assert_failure 1
        assert_output --partial "$reason"
    done
}

@test "a journal with a number twice, or a token that goes back" {
    printf '%s\n' '1 owner=a token=1' '2 owner=b token=2' >journal
    run check_history --journal journal
    assert_success
    printf '%s\n' '1 owner=a token=1' '1 owner=b token=2' >journal
    run check_history --journal journal
    assert_failure 1
    printf '%s\n' '1 owner=a token=2' '2 owner=b token=1' >journal
    run check_history --journal journal
    assert_failure 1
}

@test "too few sections are no proof" {
    run check_history --min-sections 3 "$TESTS/history/sound-one-after-another.txt"
    assert_failure 2
}
