#!/usr/bin/env bats
# notes.bats: what tests/run says at its end of what was not run (tests/lib/notes.bash).

load ../lib/rlock
load ../lib/no_server
load ../lib/notes

left='left,cli/x,a test,needs strace'

begin() {
    export RLOCK_TEST_NOTES=$PWD/notes
    : >notes
}

# told STATUS LAST [NOTE...]: of what was noted, and of these, with commas between their words: LAST ends the last line.
told() {
    local note words
    for note in "${@:3}"; do
        IFS=, read -ra words <<<"$note,,"
        note "${words[@]:0:4}"
    done
    run tell_notes
    assert_equal "$status $(tail -n 1 <<<"$output")" "$1 $2"
    [[ -n $2 ]] || refute_output
    begin
}

@test "what was left out is told with its reason, and is a failure, unless it was run in another stage" {
    begin
    told 0 '' 'ran,cli/x,a test'
    told 0 '' "$left" 'ran,cli/x,a test'
    told 1 '; NOT RUN: 1 needs strace' "$left" 'ran,cli/x,another'
    left_out tests/interop 'Maven cannot fetch Redisson' RLOCK_NO_INTEROP && fail 'nobody wanted that'
    told 1 '; NOT RUN: 2 needs strace, 1 Maven cannot fetch Redisson' "$left" 'left,cli/y,a test,needs strace'
    assert_line '    2  needs strace: cli/x cli/y'
    assert_line '    1  Maven cannot fetch Redisson: tests/interop'
}

@test "a switch says that it was wanted; what is not for this build or server needs none" {
    local rights=('left,cli/x,a test,needs the right to make namespaces' 'left,cli/y,a test,needs root')
    local are='1 needs the right to make namespaces, 1 needs root'
    begin
    RLOCK_NO_INTEROP=1 left_out tests/interop 'not wanted' RLOCK_NO_INTEROP
    told 0 '; NOT RUN, and no failure: 1 not wanted'
    told 0 '; NOT RUN, and no failure: 1 not for Redis 7.0: it is old' 'left,cli/x,a test,not for Redis 7.0: it is old'
    told 1 "; NOT RUN: $are" "${rights[@]}"
    assert_output --partial RLOCK_NO_RIGHTS=1
    RLOCK_NO_RIGHTS=1 told 0 "; NOT RUN, and no failure: $are" "${rights[@]}"
    RLOCK_NO_RIGHTS=1 told 1 "; NOT RUN: 1 needs strace; NOT RUN, and no failure: $are" "$left" "${rights[@]}"
}

@test "what failed for good is told first, and second looks last, by name" {
    begin
    note_failed 'alone, twice' cli/x cli/y
    told 1 '; FAILED: 2 alone, twice; NOT RUN: 1 needs strace; second looks: 1 failed beside others' \
        'left,cli/z,a test,needs strace' second,cli/v
    assert_line --index 1 '    2  alone, twice: cli/x cli/y'
    told 0 '; second looks: 2 failed beside others' second,cli/x second,cli/y
    assert_line '    2  failed beside others: cli/x cli/y'
}

@test "of a suite's log each test is known, and why it was skipped" {
    begin
    cat >log <<-'END'
	3/90 Testing: cli/x
	ok 1 a "quoted" test
	ok 2 another # skip needs strace
	not ok 3 a third
	4/90 Testing: project/y
	ok 1 a test # skip
	END
    note_suite log
    run cat notes
    assert_output $'ran\tcli/x\ta "quoted" test\t
left\tcli/x\tanother\tneeds strace
left\tproject/y\ta test\tno reason given'
}
