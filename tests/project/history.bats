#!/usr/bin/env bats
# history.bats: is the checker any good? Recorded histories, sound and unsound, that it must tell apart.

load ../lib/rlock
load ../lib/no_server

# judge FILE: by the options that it names.
judge() {
    local options
    read -ra options <<<"$(sed -n 's/^# options: //p' "$1")"
    run check_history "${options[@]}" "$1"
}

@test "sound histories pass" {
    local file
    for file in "$TESTS"/history/sound-*.txt; do
        judge "$file"
        assert_success
    done
}

@test "each unsound history is found out, for its own reason" {
    local file reason
    for file in "$TESTS"/history/unsound-*.txt; do
        reason=$(sed -n '1s/^# //p' "$file")
        judge "$file"
        assert_failure 1
        assert_output --partial "$reason"
    done
}

@test "who was killed counts up to the last beat" {
    printf '%s\n' 'enter=100 exit=- owner=a token=1 pid=10' 'enter=150 exit=160 owner=b token=2 pid=11' >killed
    check_history killed
    mkdir killed.beats
    python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("q", 151))' >killed.beats/10-100
    run check_history killed
    assert_failure 1
    assert_output --partial overlap
}

@test "what proves nothing, or makes no sense, is not taken for a sound history" {
    local file options
    while read -r file options; do
        # shellcheck disable=SC2086
        run check_history $options "$TESTS/history/$file.txt"
        assert_equal "$file $options: $status" "$file $options: 2"
    done <<-'END'
	sound-one-after-another --min-sections 3
	sound-permits --rule rm
	sound-permits --rule permits
	sound-permits --rule mutex=1
	sound-permits --rule latch=x
	END
    echo 'enter=1 exit=2' >broken
    run check_history broken
    assert_failure 1
}
