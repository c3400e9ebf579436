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
    redis HSET $'bad\u202ename' 11111111-2222-4333-8444-555555555555:1 1 >/dev/null
    redis PEXPIRE $'bad\u202ename' 60000 >/dev/null
    try status --list-names
    assert_output fine
    let_go fine
    reap "$holder"
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
