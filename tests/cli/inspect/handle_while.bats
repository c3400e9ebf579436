#!/usr/bin/env bats
# handle_while.bats: acquire --while PID: a lock that is kept in the background while a process lives.

load ../../lib/rlock
load ../../lib/handles

# A process to keep a lock for: sets process.
begin() {
    sleep 60 3>&- 4>&- &
    process=$!
    helper_pids+=("$process")
}

finish() {
    kill -KILL "$process"
    wait "$process" 2>/dev/null || true
}

@test "it is kept for longer than its lease while PID lives, and given back when that ends" {
    local kind
    for kind in run write 'sem --permits 1'; do
        redis FLUSHALL
        begin
        # shellcheck disable=SC2086
        acquire $kind -l "$(ms 600)" --while "$process"
        redis CONFIG RESETSTAT
        wait_until 5 renewed 4 # one every third of the lease
        try check "$handle"
        assert_equal "$kind: $status $stderr" "$kind: 0 "
        finish
        wait_until 5 none_marked "TEST_MARK=$TEST_MARK"
        [[ $kind != sem* ]] || redis DEL x
        assert_no_keys
    done
}

renewed() { # TIMES [SERVER]
    (($(calls evalsha "${@:2}") >= $1))
}

@test "the rest of a script: as soon as it is dead, however it died" {
    cat >script <<-'END'
	#!/bin/bash
	h=$(rlock acquire run -n x -l 1h --while $$)
	rlock check $h && echo held >ran
	kill -KILL $$
	END
    run timeout 60 bash script
    assert_failure 137
    assert_equal "$(cat ran)" held
    wait_until 5 assert_free x
}

@test "the keeper has nothing of the caller's: \$(...) returns, no descriptor, session or directory" {
    local keeper
    begin
    exec 7>open-file
    try acquire run -n x --while "$process"
    exec 7>&-
    keeper=$(keeper_of_x)
    ls -l "/proc/$keeper/fd" >fds
    run cat fds
    refute_output --partial open-file
    refute_output --partial pipe:
    refute_output --partial "$BATS_RUN_TMPDIR"
    assert_equal "$(grep -c /dev/null fds)" 3
    assert_equal "$(readlink "/proc/$keeper/cwd")" /
    assert_equal "$(session "$keeper")" "$keeper"
    finish
}

@test "others are shown the keeper, and for whom it keeps" {
    local keeper
    begin
    acquire run --while "$process"
    keeper=$(keeper_of_x)
    try run -x -n x -- true
    assert_failure 75
    assert_stderr_has "pid $keeper" "rlock acquire run --while $process"
    kill -TERM "$keeper" # gives it back
    wait_until 5 assert_free x
    wait_until 5 ended "$keeper"
    finish
}

@test "a password that is changed in its file is known to the next connection" {
    local -x RLOCK_SERVER REDISCLI_AUTH=new
    server_start guarded --user default on '>old' '>new' '~*' '&*' +@all
    RLOCK_SERVER=unix://$BATS_FILE_TMPDIR/guarded/sock
    echo old >secret
    begin
    acquire run -l "$(ms 900)" --while "$process" --password-file secret
    echo new >secret
    redis_on guarded ACL SETUSER default '<old'
    redis_on guarded CLIENT KILL TYPE normal
    redis_on guarded CONFIG RESETSTAT
    wait_until 5 renewed 4 guarded
    try check "$handle" --password-file secret
    assert_success
    finish
    wait_until 5 none_marked "TEST_MARK=$TEST_MARK"
}

@test "the keeper ends when the lock is given back by its handle, and when it is lost" {
    begin
    acquire run -l "$(ms 600)" --while "$process"
    rlock release "$handle"
    assert_free x
    wait_until 5 none_marked_but_helpers
    acquire run -l "$(ms 600)" --while "$process"
    redis DEL x 'rlock_hold:{x}' 'rlock_info:{x}'
    foreign_hold x 60000
    wait_until 5 none_marked_but_helpers
    assert_equal "$(redis HKEYS x)" "$foreign_owner"
    finish
}

none_marked_but_helpers() {
    [[ $(marked "TEST_MARK=$TEST_MARK") == "$process" ]]
}

@test "a PID that is none: 64, and nothing is sent" {
    local pid
    for pid in 0 -1 x 4194305; do
        assert_usage --while -- acquire run -n x --while "$pid"
    done
    # A zombie has ended, and its parent, no shell any more by then, does not ask for it.
    bash -c '(until grep -qx sleep /proc/$$/comm; do sleep 0.01; done) & echo $! >zombie; exec sleep 60' 3>&- 4>&- &
    helper_pids+=($!)
    wait_until 5 is_zombie
    assert_usage "no such process" -- acquire run -n x --while "$(cat zombie)"
    assert_usage "a thread, not a process" -- acquire run -n x --while "$(a_thread)"
}

# Of the server, which has several; not its first.
a_thread() {
    local main
    main=$(server_pid main)
    find "/proc/$main/task" -mindepth 1 -maxdepth 1 ! -name "$main" -printf '%f\n' -quit
}

is_zombie() {
    [[ -s zombie ]] && in_state "$(cat zombie)" Z
}

@test "PID ends while we wait: 75, and nothing is left" {
    begin
    foreign_hold x 60000
    start acquire fair -n x --while "$process"
    wait_until 5 waiters x 1
    finish
    reap "$pid"
    assert_equal "$status: $(cat out)" "75: "
    assert_equal "$(tail -n 1 err)" "rlock: cannot take x for process $process: it has ended"
    wait_until 5 none_marked "TEST_MARK=$TEST_MARK"
    assert_keys x
}

@test "a signal, or the death of rlock, while waiting leaves nothing behind" {
    local signal expected
    foreign_hold x 60000
    for signal in INT:130 TERM:143 KILL:137; do
        expected=${signal#*:}
        begin
        start acquire fair -n x --while "$process"
        wait_until 5 waiters x 1
        kill "-${signal%:*}" "$pid"
        reap "$pid"
        assert_equal "$status: $(cat out)" "$expected: "
        finish
        wait_until 5 none_marked "TEST_MARK=$TEST_MARK"
        assert_keys x
    done
}

@test "a handle that cannot be written: 71, no lock and no keeper" {
    begin
    run --separate-stderr bash -c '"$0" acquire run -n x --while "$1" >/dev/full' "$RLOCK" "$process"
    assert_failure 71
    assert_message
    assert_no_keys
    wait_until 5 none_marked_but_helpers
    finish
}

@test "not in time: 75, and no keeper" {
    begin
    foreign_hold x 60000
    try acquire run -x -n x --while "$process"
    assert_failure 75
    assert_message
    try acquire run -x -E 0 -n x --while "$process"
    assert_success
    assert_equal "$output" ""
    wait_until 5 none_marked_but_helpers
    finish
}

@test "a caller that ignores SIGCHLD, as many daemons do, gets the same status" {
    local -a ignoring=(env --ignore-signal=CHLD "$RLOCK" acquire run -q --while $$)
    acquire run -l 1h
    run "${ignoring[@]}" -x -n x
    assert_failure 75
    run "${ignoring[@]}" -x -E 0 -n x
    assert_success
    run "${ignoring[@]}" -n y -s "unix://$PWD/none" --connect-timeout 100ms
    assert_failure 69
    redis SET text text
    run "${ignoring[@]}" -n text
    assert_failure 65
}
