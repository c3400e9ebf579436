#!/usr/bin/env bats
# names.bats: the hidden `rlock status --list-names`, which completions ask: at once or not at all, and
# nothing is started or written for it.

load ../../lib/rlock

@test "the names of all locks, a line each" {
    hold one
    redis SET number 7 >/dev/null
    redis HSET hash field value >/dev/null
    try latch set -n app:two --count 2
    try status --list-names
    assert_success
    assert_output $'app:two\none'
    assert_equal "$stderr" ''
    let_go one
    reap "$holder"
}

@test "a name that would be more than a line is left out" {
    hold fine
    redis HSET $'bad\nname' 11111111-2222-4333-8444-555555555555:1 1 >/dev/null
    redis PEXPIRE $'bad\nname' 60000 >/dev/null
    redis SET $'redisson_lock_token:{bad\nname}' 1 >/dev/null
    redis HSET $'bad\xe2\x80\xaename' 11111111-2222-4333-8444-555555555555:1 1 >/dev/null
    redis PEXPIRE $'bad\xe2\x80\xaename' 60000 >/dev/null
    try status --list-names
    assert_output fine
    let_go fine
    reap "$holder"
}

# some_wait N: so many are shown as waiting.
some_wait() {
    (($("$RLOCK" status | grep -cw waits) == $1))
}

@test "the names of status, whatever keys are beside the locks: held and waited for, with braces and without" {
    local kind name permits waiter waiters=()
    for kind in run fair read write sem; do
        [[ $kind == sem ]] && permits=(--permits 1) || permits=()
        waiter=${kind/read/write}
        for name in "a $kind" ":$kind{tag}s"; do
            rlock acquire "$kind" -n "$name" "${permits[@]}" -l 60s >handle
            start "$waiter" -n "$name" "${permits[@]}" -- true
            waiters+=("$pid")
        done
    done
    wait_until 10 some_wait 10
    rlock run --once-per 1h -n 'ran{once}' -- true
    try status --list-names
    assert_success
    assert_equal "$output" "$(rlock status --json | python3 -c 'import json, sys
print("\n".join(sorted(lock["name"] for lock in json.load(sys.stdin))))')"
    assert_equal "$(grep -c . <<<"$output")" 11
    kill "${waiters[@]}"
    for pid in "${waiters[@]}"; do
        reap "$pid"
    done
}

@test "a server that does not answer is not waited for" {
    server_start silent
    kill -STOP "$(server_pid silent)"
    took 0 2000 rlock status --list-names -s "unix://$BATS_FILE_TMPDIR/silent/sock"
    kill -CONT "$(server_pid silent)"
    assert_equal "$status" 69
    assert_output ''
}

@test "no server is started" {
    try status --list-names -s "local:$PWD/dir"
    assert_equal "$status" 69
    assert_output ''
    assert_file_not_exist dir
}
