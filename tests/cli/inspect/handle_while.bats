#!/usr/bin/env bats
# handle_while.bats: acquire --while PID: a lock that is kept in the background while a process lives.
# shellcheck disable=SC2086 # rows of words

load ../../lib/rlock
load ../../lib/handles

# A process to keep a lock for: sets process.
begin() {
    helper sleep 60
    process=$!
}

finish() {
    kill -KILL "$process"
    wait "$process" 2>/dev/null || true
}

keeper_gone() {
    wait_until 5 none_marked "TEST_MARK=$TEST_MARK"
}

renewed() { # TIMES [SERVER]
    (($(calls evalsha "${@:2}") >= $1))
}

@test "it is kept for longer than its lease while PID lives, and given back when that ends" {
    local kind
    for kind in run write 'sem --permits 1'; do
        redis FLUSHALL
        begin
        acquire $kind -l "$(ms 600)" --while "$process"
        redis CONFIG RESETSTAT
        wait_until 5 renewed 4 # one every third of the lease
        rlock check "$handle"
        finish
        keeper_gone
        [[ $kind != sem* ]] || redis DEL x
        assert_no_keys
    done
}

@test "the rest of a script: as soon as it is dead, however it died" {
    run timeout 60 bash -c 'h=$(rlock acquire run -n x -l 1h --while $$)
        rlock check $h && echo held >ran
        kill -KILL $$'
    assert_failure 137
    assert_equal "$(cat ran)" held
    wait_until 5 assert_free x
}

denied() { # COMMAND: somebody was
    redis ACL LOG | grep -qx "$1"
}

@test "it cannot be given back when PID ends: it is as soon as the server lets us, however long its lease" {
    begin
    acquire run -l 1h --while "$process"
    redis ACL SETUSER default -evalsha
    finish
    wait_until 5 denied evalsha
    redis ACL SETUSER default +evalsha
    keeper_gone
    assert_no_keys
}

@test "the keeper has nothing of the caller's, and is shown to others, with for whom it keeps" {
    local keeper
    begin
    exec 7>open-file
    acquire run --while "$process"
    exec 7>&-
    keeper=$(redis HKEYS x | sed 's/.*:\(.*\)@.*/\1/')
    ls -l "/proc/$keeper/fd" >fds
    refute grep -F -e open-file -e pipe: -e "$BATS_RUN_TMPDIR" fds
    assert_equal "$(grep -c /dev/null fds)" 3
    assert_equal "$(readlink "/proc/$keeper/cwd")" /
    assert_equal "$(session "$keeper")" "$keeper"
    ends_saying 75 "pid $keeper" "rlock acquire run --while $process" -- run -x -n x -- true
    kill -TERM "$keeper" # gives it back
    wait_until 5 assert_free x
    wait_until 5 ended "$keeper"
}

@test "a password that is changed in its file is known to the next connection" {
    local -x RLOCK_SERVER REDISCLI_AUTH=new
    server_start guarded --user default on '>old' '>new' '~*' '&*' +@all
    RLOCK_SERVER=$(server_url guarded)
    echo old >secret
    begin
    acquire run -l "$(ms 900)" --while "$process" --password-file secret
    echo new >secret
    redis_on guarded ACL SETUSER default '<old'
    redis_on guarded CLIENT KILL TYPE normal
    redis_on guarded CONFIG RESETSTAT
    wait_until 5 renewed 4 guarded
    rlock check "$handle" --password-file secret
    finish
    keeper_gone
}

@test "the keeper ends when the lock is given back by its handle, and when it is lost" {
    begin
    acquire run -l "$(ms 600)" --while "$process"
    rlock release "$handle"
    assert_free x
    keeper_gone
    acquire run -l "$(ms 600)" --while "$process"
    redis DEL x 'rlock_hold:{x}' 'rlock_info:{x}'
    foreign_hold x 60000
    keeper_gone
    assert_equal "$(redis HKEYS x)" "$foreign_owner"
}

@test "a PID that is none: 64, and nothing is sent" {
    local pid
    for pid in 0 -1 x 4194305; do
        assert_usage --while -- acquire run -n x --while "$pid"
    done
    # A zombie has ended, and its parent, no shell any more by then, does not ask for it.
    bash -c '(until grep -qx sleep /proc/$$/comm; do sleep 0.01; done) & echo $! >zombie; exec sleep 60' 3>&- 4>&- &
    helper_pids+=($!)
    wait_until 5 test -s zombie
    wait_until 5 in_state "$(cat zombie)" Z
    assert_usage "no such process" -- acquire run -n x --while "$(cat zombie)"
    pid=$(server_pid main) # which has several threads
    assert_usage "a thread, not a process" -- \
        acquire run -n x --while "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 ! -name "$pid" -printf '%f\n' -quit)"
}

@test "a signal, the death of rlock, or of PID, while waiting leaves nothing behind; nor without --while" {
    local words end expected
    foreign_hold x 60000
    while read -r end expected words; do
        begin
        start acquire ${words/while/while $process} -n x
        wait_until 5 waiters x 1
        if [[ $end == PID ]]; then
            finish
        else
            kill "-$end" "$pid"
        fi
        reap "$pid"
        assert_equal "$end: $status: $(cat out)" "$end: $expected: "
        keeper_gone
        assert_keys x
    done <<'END'
TERM 143 run
TERM 143 fair
INT 130 fair --while
TERM 143 fair --while
KILL 137 fair --while
PID 75 fair --while
END
    assert_equal "$(tail -n 1 err)" "rlock: cannot take x for process $process: it has ended"
}

# A script's `trap '' TERM` is for its own.
@test "a caller that ignores SIGTERM: PID's end, and the death of rlock, end the wait" {
    local end
    foreign_hold x 60000
    for end in PID KILL; do
        begin
        (
            trap '' TERM
            exec "$RLOCK" acquire run -q -n x --while "$process" >out 2>err 3>&- 4>&-
        ) &
        pid=$!
        wait_until 5 waiters x 1
        if [[ $end == PID ]]; then
            finish
        else
            kill -KILL "$pid"
        fi
        reap "$pid" || true
        keeper_gone
        assert_keys x
    done
}

@test "a caller that ignores SIGCHLD, as many daemons do, gets the same status, and no handle: 75, -E, 69, 65" {
    local -a ignoring=(env --ignore-signal=CHLD "$RLOCK" acquire run -q --while $$)
    acquire run -l 1h
    run -75 "${ignoring[@]}" -x -n x
    run -0 "${ignoring[@]}" -x -E 0 -n x
    assert_output ""
    run -69 "${ignoring[@]}" -n y -s "unix://$PWD/none" --connect-timeout 100ms
    redis SET text text
    run -65 "${ignoring[@]}" -n text
}
