#!/usr/bin/env bats
# suite.bats: tests/suite itself: what gets a second try, and what never does; and what tests/run says at its end of
# what was not run (lib/notes.bash).

load ../lib/rlock
load ../lib/no_server
load ../lib/notes

# runs STATUS TIMES COMMAND [OPTION OF CTEST...]: a suite of one test, which is that shell command, between two that
# always pass, ends so, and the command was run so often.
runs() {
    rm -rf project build
    mkdir project
    : >runs
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(one NONE)' 'enable_testing()' \
        'add_test(NAME before COMMAND true)' "add_test(NAME one COMMAND sh -c [[echo run >>$PWD/runs; $3]])" \
        'add_test(NAME after COMMAND true)' >project/CMakeLists.txt
    cmake -S project -B build >/dev/null
    run "$PROJECT/tests/suite" build "${@:4}"
    assert_equal "$3: $status $(grep -c run runs)" "$3: $1 $2"
}

# A command that succeeds the Nth time.
nth() {
    echo "test \$(grep -c run $PWD/runs) = $1"
}

@test "what fails beside others has a second try, alone, twice at most; what passes is run once, and a skip is told" {
    runs 0 1 "printf '%s\n' 'ok 1 a \"quoted\" test # skip needs strace' 'ok 2 another # skip' 'ok 3 it' 'ok 4 it # skip'"
    assert_line '    1  needs strace: one'
    assert_line '    1  no reason given: one' # what has run elsewhere was not left out
    runs 0 2 "$(nth 2)"
    assert_output --partial 'once more'
    runs 0 3 "$(nth 3)" -E before # where some are left out it is the same one
    runs 1 3 false
    assert_line '    1  alone, twice: one'
    runs 1 0 true -L none # and nothing is run in the place of no test
}

@test "what a judge or a sanitizer finds has no second try; a test's name breaks none" {
    local said
    for said in '2 sections, 1 violations' 'broken promise: seen by tokens' 'broken promise: 39 of 40 additions' \
        'broken promise: {0, 1} hold it at the same time' 'WARNING: ThreadSanitizer: data race'; do
        runs 1 1 "echo '$said'; $(nth 2)"
        assert_line '    1  a broken promise, or others beside one: one'
    done
    runs 0 2 "echo 'ok 1 a broken promise has no second try'; $(nth 2)"
}

@test "a second look has the seed of the first, and is told and counted at the end" {
    runs 0 2 "echo \$RLOCK_TEST_SEED >>$PWD/seeds; $(nth 2)"
    assert_equal "$(sort -u seeds | wc -l)" 1
    assert_line --partial 'seed '"$(head -n 1 seeds)"
    assert_line --partial 'second looks'
    assert_line '    1  failed beside others: one'
}

# --- what was not run ------------------------------------------------------------------------------

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
