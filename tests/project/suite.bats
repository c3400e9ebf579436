#!/usr/bin/env bats
# suite.bats: tests/suite itself: what gets a second try, and what never does.

load ../lib/rlock

setup_file() { :; } # needs no server
teardown_file() { :; }

setup() {
    clean_environment
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() { :; }

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

@test "what passes is run once" {
    suite_of "echo run >>$PWD/runs"
    assert_success
    assert_equal "$(grep -c run runs)" 1
}

@test "what fails beside others has a second try, alone" {
    suite_of "echo run >>$PWD/runs; test \$(grep -c run $PWD/runs) = 2"
    assert_success
    assert_output --partial 'once more'
}

@test "where some are left out it is the same one" {
    suite_of "echo run >>$PWD/runs; test \$(grep -c run $PWD/runs) = 3" -E before
    assert_success
    assert_equal "$(grep -c run runs)" 3
}

@test "what fails alone twice as well is a failure" {
    suite_of "echo run >>$PWD/runs; false"
    assert_failure
    assert_equal "$(grep -c run runs)" 3
}

@test "a broken promise has no second try" {
    suite_of "echo run >>$PWD/runs; echo '2 sections, 1 violations'; test \$(grep -c run $PWD/runs) = 2"
    assert_failure
    assert_equal "$(grep -c run runs)" 1
}

@test "nor has whatever else a judge finds: anomalies of the campaign, a sum that is not right, a walk, a state" {
    local said
    for said in 'round 1: 3 anomalies' 'broken promise: 39 of 40 additions' 'broken promise: seed 7, round 3: two hold'; do
        rm -rf project build runs
        suite_of "echo run >>$PWD/runs; echo '$said'; test \$(grep -c run $PWD/runs) = 2"
        assert_failure
        assert_equal "$(grep -c run runs)" 1
    done
}

@test "a second look has the seed of the first, and is told and counted at the end" {
    suite_of "echo \$RLOCK_TEST_SEED >>$PWD/runs; test \$(grep -c . $PWD/runs) = 2"
    assert_success
    assert_equal "$(sort -u runs | wc -l)" 1
    assert_line --partial 'seed '"$(head -n 1 runs)"
    assert_line --partial 'second looks'
    assert_line '    1  failed beside others: one'
}

@test "what was left out is told and counted at the end, and why" {
    suite_of "echo 'ok 1 a test # skip needs strace'"
    assert_success
    assert_line --partial 'NOT RUN'
    assert_line '    1  needs strace: one'
}

@test "a test's name breaks none" {
    suite_of "echo 'ok 1 a broken promise has no second try'; echo run >>$PWD/runs; test \$(grep -c run $PWD/runs) = 2"
    assert_success
}

@test "nor has a sanitizer's finding" {
    suite_of "echo run >>$PWD/runs; echo 'WARNING: ThreadSanitizer: data race'; test \$(grep -c run $PWD/runs) = 2"
    assert_failure
    assert_equal "$(grep -c run runs)" 1
}

@test "no test to run is a failure, and nothing else is run in its place" {
    suite_of "echo run >>$PWD/runs" -L none
    assert_failure
    assert_not_exist runs
}
