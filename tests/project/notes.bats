#!/usr/bin/env bats
# notes.bats: what tests/run says at its end of what was not run (tests/lib/notes.bash).

load ../lib/rlock
load ../lib/notes

setup_file() { :; } # needs no server
teardown_file() { :; }

setup() {
    clean_environment
    cd "$BATS_TEST_TMPDIR" || return
    export RLOCK_TEST_NOTES=$PWD/notes
    : >notes
}

teardown() { :; }

# told STATUS: the status of tell_notes; lines and output are what it says.
told() {
    run tell_notes
    assert_equal "$status" "$1"
}

# after NOTE...: of these, with commas between their words, and no others.
after() {
    local note words
    : >notes
    for note; do
        IFS=, read -ra words <<<"$note,,"
        note "${words[@]:0:4}"
    done
}

@test "what was left out is told with its reason, and is a failure, unless it was run in another stage" {
    after 'ran,cli/x,a test'
    told 0
    assert_output ''
    after 'left,cli/x,a test,needs strace' 'left,cli/y,a test,needs strace'
    left_out tests/interop 'Maven cannot fetch Redisson' RLOCK_NO_INTEROP && fail 'nobody wanted that'
    told 1
    assert_line '    2  needs strace: cli/x cli/y'
    assert_line '    1  Maven cannot fetch Redisson: tests/interop'
    assert_equal "${lines[-1]}" '; NOT RUN: 2 needs strace, 1 Maven cannot fetch Redisson'
    after 'left,cli/x,a test,needs strace' 'ran,cli/x,a test'
    told 0
    assert_output ''
    after 'left,cli/x,a test,needs strace' 'ran,cli/x,another'
    told 1
}

@test "a switch says that it was wanted; what is not for this build or server needs none" {
    RLOCK_NO_INTEROP=1 left_out tests/interop 'not wanted' RLOCK_NO_INTEROP
    told 0
    assert_equal "${lines[-1]}" '; NOT RUN, and no failure: 1 not wanted'
    after 'left,cli/x,a test,not for Redis 7.0: it has no WAITAOF'
    told 0
    assert_line '    1  not for Redis 7.0: it has no WAITAOF: cli/x'
    after 'left,cli/x,a test,needs the right to make a network namespace' 'left,cli/y,a test,needs root to be somebody else'
    told 1
    assert_output --partial RLOCK_NO_RIGHTS=1
    RLOCK_NO_RIGHTS=1 told 0
    assert_output --partial 'NOT RUN, and no failure'
    note left cli/z 'a test' 'needs strace'
    RLOCK_NO_RIGHTS=1 told 1
}

@test "what failed for good is told first, and second looks last, by name" {
    after 'left,cli/z,a test,needs strace' second,cli/v second,cli/w
    note_failed 'alone, twice' cli/x cli/y
    told 1
    assert_equal "${lines[0]}:${lines[1]}" 'FAILED:    2  alone, twice: cli/x cli/y'
    after second,cli/x second,cli/y
    told 0
    assert_line '    2  failed beside others: cli/x cli/y'
    assert_equal "${lines[-1]}" '; second looks: 2 failed beside others'
}

@test "of a suite's log each test is known, and why it was skipped" {
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
