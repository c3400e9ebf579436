#!/usr/bin/env bats
# skips.bats: --max-skips: a job that is skipped again and again, for another one hangs, is an error in the end.

load ../../lib/rlock
load ../../lib/status

record='rlock_last:{x}'

# skips STATUS OPTION...: rlock run OPTION... does not get x, says nothing, and exits with STATUS.
skips() {
    try run "${@:2}" -n x -- touch ran
    assert_equal "$status: $stderr" "$1: "
    assert_file_not_exist ran
}

# speaks TIMES OPTION...: rlock run OPTION... says that this was so often in a row, and exits with 75.
speaks() {
    try run "${@:2}" -n x -- touch ran
    assert_failure 75
    assert_message
    assert_regex "$stderr" \
        "cannot take x, $1 times? in a row \(--max-skips\): held by .*@$(uname -n) pid $holder for [0-9]+s, "
    assert_file_not_exist ran
}

@test "the Nth time in a row, and each further one, is an error whatever -q and -E say" {
    hold x
    skips 0 -x -q -E 0 --max-skips 3
    skips 7 -x -q -E 7 --max-skips 3
    speaks 3 -x -q -E 0 --max-skips 3
    speaks 4 -x -q -E 0 --max-skips 3
    speaks 5 -w 10ms -q -E 0 --max-skips 2
    try fair -x -q -E 0 --max-skips 6 -n x -- touch ran
    assert_failure 75
    assert_stderr_has 'cannot take x, 6 times in a row'
    let_go x
    reap "$holder"
    assert_no_keys
}

@test "a run that ends with 0 begins the row anew, with or without the option; one that fails does not" {
    local run
    for run in 'run -n x -- true' 'fair --max-skips 9 -x -n x -- true' 'run --once-per 1ms -n x -- true'; do
        hold x
        skips 0 -x -q -E 0 --max-skips 2
        kill "$holder" # its command, and so this run, fails
        reap "$holder"
        rlock run --max-skips 2 -x -n x -- false || true
        hold x
        speaks 2 -x -q -E 0 --max-skips 2
        kill "$holder"
        reap "$holder"
        # shellcheck disable=SC2086
        try $run
        assert_success
    done
    hold x
    skips 0 -x -q -E 0 --max-skips 2
    let_go x
    reap "$holder"
}

@test "skips without the option do not count, nor does a wait that succeeds or is interrupted" {
    hold x
    try run -x -n x -- touch ran
    assert_failure 75
    start run --max-skips 1 -w 60 -n x -- touch ran
    wait_until 10 in_line x 1
    kill -TERM "$pid"
    reaps 143 "$pid"
    assert_no_record
    log=waits start run -q --max-skips 1 -w 60 -n x -- true
    let_go x
    reaps 0 "$pid"
    assert_no_record
}

assert_no_record() {
    assert_equal "$(redis EXISTS "$record")" 0
}

@test "of several names it is the one that is held" {
    hold y
    try run -x -q -E 0 --max-skips 1 -n x -n y -- touch ran
    assert_failure 75
    assert_stderr_has 'cannot take y, 1 time in a row'
    assert_equal "$(redis HGET 'rlock_last:{y}' skips)" 1
    assert_no_record
    let_go y
    reap "$holder"
}

@test "the reply to the count is lost: counted once" {
    hold x
    proxy_start
    proxy lose-reply "$(sha1sum <"$SCRIPTS/skip.lua" | cut -d " " -f 1)" 1
    speaks 1 -x --io-timeout "$(ms 300)" --max-skips 1
    assert_bitten lost-reply 1
    speaks 2 -x --max-skips 1
    let_go x
    reap "$holder"
}

@test "in a file it is for run and fair with an end of the wait, and in no other's way" {
    echo 'max-skips = 1' >"$RLOCK_CONFIG"
    local line
    for line in 'run -n x -- true' 'run --any 1 -n x -n y -- true' 'status x' 'wait x' 'latch set -n l --count 1' \
        'latch down -n l' 'sem --permits 1 -n s -- true'; do
        # shellcheck disable=SC2086
        try $line
        assert_equal "$line: $status" "$line: 0"
    done
    hold x
    speaks 1 -x -q -E 0
    let_go x
    try acquire run -x -q -E 0 -n x
    assert_equal "$status: $stderr" '0: '
    let_go x
    reap "$holder"
}

@test "a record that is something else: 75 as before, with a warning" {
    redis SET "$record" mine
    hold x
    try run -x --max-skips 1 -n x -- touch ran
    assert_failure 75
    assert_stderr_has 'cannot count that x was skipped: '
    assert_equal "$(redis GET "$record")" mine
    let_go x
    reap "$holder"
}

@test "status shows how often in a row, also of a lock that is free, and the last key" {
    try run --once-key 'a "key"' -n x -- true
    hold x
    skips 0 -x -q -E 0 --max-skips 9
    skips 0 -x -q -E 0 --max-skips 9
    see x
    assert_seen 'v[0]["skips"], v[0]["last_run"]["key"]' "(2, 'a \"key\"')"
    kill "$holder" # and the row goes on
    reap "$holder"
    see x
    assert_seen 'v[0]["state"], v[0]["skips"]' "('free', 2)"
    try status x
    assert_line --regexp '2 skips in a row'
    try run -n x -- true
    see x
    assert_seen '"skips" in v[0]' False
}
