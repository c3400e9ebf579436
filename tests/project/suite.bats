#!/usr/bin/env bats
# suite.bats: tests/suite itself: what gets a second try, and what never does.

load ../lib/rlock
load ../lib/no_server

# suite_of COMMAND [OPTION OF CTEST...]: of one test, which is that shell command, between two that always
# pass; its status and output.
suite_of() {
    mkdir project
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(one NONE)' 'enable_testing()' \
        'add_test(NAME before COMMAND true)' "add_test(NAME one COMMAND sh -c [[$1]])" \
        'add_test(NAME after COMMAND true)' >project/CMakeLists.txt
    cmake -S project -B build >/dev/null
    run "$PROJECT/tests/suite" build "${@:2}"
}

# runs STATUS TIMES COMMAND [OPTION OF CTEST...]: the suite ends so, and the command was run so often.
runs() {
    rm -rf project build runs
    suite_of "echo run >>$PWD/runs; $3" "${@:4}"
    assert_equal "$3: $status $(grep -c run runs)" "$3: $1 $2"
}

# A command that succeeds the Nth time.
nth() {
    echo "test \$(grep -c run $PWD/runs) = $1"
}

@test "what fails beside others has a second try, alone, twice at most; what passes is run once, and a skip is told" {
    runs 0 1 "echo 'ok 1 a test # skip needs strace'"
    assert_line '    1  needs strace: one'
    runs 0 2 "$(nth 2)"
    assert_output --partial 'once more'
    runs 0 3 "$(nth 3)" -E before # where some are left out it is the same one
    runs 1 3 false
    assert_line '    1  alone, twice: one'
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
    suite_of "echo \$RLOCK_TEST_SEED >>$PWD/runs; test \$(grep -c . $PWD/runs) = 2"
    assert_success
    assert_equal "$(sort -u runs | wc -l)" 1
    assert_line --partial 'seed '"$(head -n 1 runs)"
    assert_line --partial 'second looks'
    assert_line '    1  failed beside others: one'
}

@test "no test to run is a failure, and nothing else is run in its place" {
    suite_of "echo run >>$PWD/runs" -L none
    assert_failure
    assert_not_exist runs
}
