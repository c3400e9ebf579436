#!/usr/bin/env bats
# exit_status.bats: one test for each row of the exit table that concerns `rlock run`.

load ../../lib/rlock

# rlock exits 65 and the key x is what it was.
assert_wrong_kind() {
    local before
    before=$(redis DUMP x | base64)
    try run -n x -w 5s -- touch ran
    assert_failure 65
    assert_message
    assert_stderr_has x
    assert_equal "$(redis DUMP x | base64)" "$before"
    assert_keys x
    assert_file_not_exist ran
}

@test "the command's own status" {
    local own
    for own in 0 1 7 75 76 125 255; do
        try run -n x -- sh -c "exit $own"
        assert_equal "$status" "$own"
        assert_equal "$stderr" ""
    done
    assert_no_keys
}

@test "128+N when signal N ended the command" {
    try run -n x -- sh -c 'kill -TERM $$'
    assert_failure 143
    try run -n x -- sh -c 'kill -KILL $$'
    assert_failure 137
    try run -n x -- sh -c 'kill -SEGV $$'
    assert_failure 139
    assert_no_keys
}

@test "64: no name, no command, no subcommand" {
    assert_usage name -- run -- touch ran
    assert_usage command -- run -n x
    assert_usage command -- run -n x --
    assert_usage rlock --
}

@test "64: an unknown subcommand or option, with the nearest one" {
    assert_usage rnu run -- rnu -n x -- touch ran
    assert_usage --wiat --wait -- run -n x --wiat 3s -- touch ran
    assert_usage Z -- run -n x -Z -- touch ran
    assert_usage --name -- run --name
    assert_usage --no-wait -- run -n x --no-wait=3 -- touch ran
}

@test "64: names that can't be" {
    assert_usage name -- run -n '' -- touch ran
    assert_usage name -- run -n $'a\nb' -- touch ran
    assert_usage name -- run -n $'a\x7fb' -- touch ran
    assert_usage 512 -- run -n "$(printf 'x%.0s' {1..513})" -- touch ran
}

@test "64: durations that can't be read" {
    local bad
    for bad in '' -1 -1s 5y 5.5.5 1,5 s 1h30 ' 5s' '5 s' 0x10 1e3 nan inf 999999999999999999999s; do
        assert_usage --wait -- run -n x --wait="$bad" -- touch ran
    done
}

@test "64: a lease, or a kill-after, out of its bounds" {
    assert_usage --lease 100ms -- run -n x --lease 99ms -- touch ran
    assert_usage --lease 7d -- run -n x --lease 8d -- touch ran
    assert_usage --lease -- run -n x --lease forever -- touch ran
    assert_usage --kill-after 1s -- run -n x --lease 3s --kill-after 1001ms -- touch ran
}

@test "64: values outside their set" {
    assert_usage --on-lost stop warn -- run -n x --on-lost maybe -- touch ran
    assert_usage --log text json -- run -n x --log xml -- touch ran
    assert_usage --conflict-exit-code 255 -- run -n x -E 256 -- touch ran
    assert_usage --conflict-exit-code -- run -n x -E abc -- touch ran
    assert_usage --conflict-exit-code -- run -n x -E -1 -- touch ran
}

@test "64: -c STRING together with a command" {
    assert_usage -c -- run -n x -c 'touch ran' -- touch ran
}

@test "64: a server's address that can't be read" {
    assert_usage --server redis:// -- run -n x -s memcached://h -- touch ran
    assert_usage --server port -- run -n x -s redis://h:port -- touch ran
    assert_usage --server database -- run -n x -s redis://h:6379/db -- touch ran
    assert_usage --server path -- run -n x -s unix:// -- touch ran
    RLOCK_SERVER=nonsense assert_usage RLOCK_SERVER redis:// -- run -n x -- touch ran
}

@test "65: the name is a string" {
    redis SET x 5
    assert_wrong_kind
}

@test "65: the name is a list" {
    redis RPUSH x a b
    assert_wrong_kind
}

@test "65: the name is a read/write lock" {
    redis HSET x mode read "$foreign_owner" 1
    assert_wrong_kind
}

@test "65: which kind it is, and who holds it" {
    local kind words
    declare -A words=(['an exclusive lock (run)']=run ['a read/write lock (read)']=read
        ['a read/write lock (write)']=write ['a semaphore (sem)']='sem --permits 1')
    for kind in "${!words[@]}"; do
        redis FLUSHALL >/dev/null
        # shellcheck disable=SC2086
        run -65 --separate-stderr rlock ${words[$kind]} -n x -- sh -c '
            case $1 in *exclusive*) set write ;; *) set run ;; esac; "$0" "$1" -n x -- touch ran' "$RLOCK" "$kind"
        assert_message
        assert_stderr_has "the name is taken by another kind: $kind, held by $(id -un)@$(uname -n) pid " ', sh -c'
    done
    rlock latch set -n y --count 3
    try run -n y -- touch ran
    assert_failure 65
    assert_stderr_has 'another kind: a latch, 3 to go'
    redis SADD z 1
    try latch set -n z --count 3
    assert_failure 65
    assert_stderr_has 'which is no lock'
    assert_file_not_exist ran
}

@test "65: the name is a hash, but not a lock" {
    redis HSET x colour red size 7
    assert_wrong_kind
    redis DEL x
    redis HSET x colour red
    assert_wrong_kind
    redis HSET x colour 0
    assert_wrong_kind
}

@test "69: nothing listens there" {
    took 0 2000 rlock run -x -s unix:///nonexistent/sock -n x -- touch ran
    assert_failure 69
    assert_message
    assert_stderr_has unix:///nonexistent/sock x
    assert_file_not_exist ran
}

@test "69: nothing listens there, after --connect-timeout and not after --wait" {
    took 400 2500 rlock run -w 60s --connect-timeout 400ms -s unix:///nonexistent/sock -n x -- touch ran
    assert_failure 69
    assert_file_not_exist ran
}

@test "69: the server takes connections and never answers" {
    proxy_start
    proxy hang
    took 500 4000 rlock run --connect-timeout 500ms --io-timeout 200ms -q -n x -- touch ran
    assert_failure 69
    assert_message
    assert_stderr_has "$RLOCK_SERVER"
    assert_file_not_exist ran
}

@test "69: the server is loading its data" {
    server_start slow
    redis_on slow CONFIG SET rdbcompression no
    redis_on slow EVAL 'for i = 1, 20000 do redis.call("SET", "k" .. i, string.rep("x", 100)) end' 0
    redis_on slow SAVE
    server_stop slow
    server_start slow --key-load-delay 1000 --loading-process-events-interval-bytes 1024
    run redis_on slow PING
    assert_output --partial LOADING
    took 1000 5000 rlock run -s "$(server_url slow)" -w 1s -n x -- touch ran
    assert_failure 69
    assert_file_not_exist ran
    run redis_on slow PING
    assert_output --partial LOADING
}

server_is_busy() {
    [[ $(redis_on busy PING) == *BUSY* ]]
}

@test "69: the server is busy with somebody's script" {
    server_start busy --busy-reply-threshold 50
    env -u TEST_MARK redis-cli -s "$BATS_FILE_TMPDIR/busy/sock" EVAL 'while true do end' 0 \
        >/dev/null 2>&1 3>&- 4>&- &
    helper_pids+=($!)
    wait_until 5 server_is_busy
    took 300 5000 rlock run -s "$(server_url busy)" -w 300ms -n x -- touch ran
    assert_failure 69
    assert_file_not_exist ran
}

@test "69: the server is out of memory" {
    local kind
    server_start full --maxmemory 1 --maxmemory-policy noeviction
    for kind in run fair read write 'sem --permits 1' 'sem --plain --permits 1'; do
        # shellcheck disable=SC2086
        took 300 5000 rlock $kind -s "$(server_url full)" -w 300ms -n x -- touch ran
        assert_equal "$kind $status" "$kind 69"
        assert_file_not_exist ran
        assert_equal "$(redis_on full DBSIZE)" 0
    done
}

@test "69: the server is read-only" {
    server_start replica --replicaof 127.0.0.1 9
    took 300 5000 rlock run -s "$(server_url replica)" -w 300ms -n x -- touch ran
    assert_failure 69
    assert_file_not_exist ran
}

@test "71: no process can be made; nothing is held" {
    command -v strace >/dev/null || skip "needs strace"
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    run --separate-stderr strace -qq -o /dev/null \
        -e inject=fork,vfork,clone,clone3:error=EAGAIN "$RLOCK" run -n x -- touch ran
    assert_failure 71
    assert_stderr_has "rlock: "
    assert_file_not_exist ran
    assert_no_keys
}

@test "75: not acquired in time" {
    hold x
    try run -n x -w 100ms -- touch ran
    assert_failure 75
    assert_file_not_exist ran
    try run -n x -x -- touch ran
    assert_failure 75
    assert_file_not_exist ran
    let_go x
    reap "$holder"
}

@test "-E: another status instead of 75" {
    foreign_hold x 60000
    try run -n x -x -E 42 -- touch ran
    assert_failure 42
    try run -n x -x --conflict-exit-code 0 -- touch ran
    assert_success
    assert_file_not_exist ran
}

@test "76: the lease was lost while the command ran, whatever it returned" {
    start run -n x -l "$(ms 900)" -- sh -c 'exec 2>/dev/null; trap "exit 0" TERM; echo >ready; while :; do sleep 0.01; done'
    wait_until 5 test -s ready
    redis DEL x
    reap "$pid"
    assert_equal "$status" 76
    stderr=$(cat err)
    assert_message
    assert_stderr_has x
}

@test "77: wrong password, no password" {
    server_start guarded --requirepass right
    RLOCK_SERVER=$(server_url guarded)
    RLOCK_PASSWORD=wrong try run -n x -- touch ran
    assert_failure 77
    assert_message
    refute_regex "$stderr" wrong
    try run -n x -- touch ran
    assert_failure 77
    assert_stderr_has password
    assert_file_not_exist ran
    RLOCK_PASSWORD=right try run -n x -- touch ran
    assert_success
    assert_file_exist ran
}

@test "77: a user without the right to run scripts" {
    server_start acl
    redis_on acl ACL SETUSER default -eval -evalsha
    try run -s "$(server_url acl)" -n x -- touch ran
    assert_failure 77
    assert_message
    assert_file_not_exist ran
    assert_equal "$(redis_on acl DBSIZE)" 0
}

@test "77: a user without the right to a key" {
    server_start acl
    redis_on acl ACL SETUSER default resetkeys '~other*'
    try run -s "$(server_url acl)" -n x -- touch ran
    assert_failure 77
    assert_file_not_exist ran
    redis_on acl ACL SETUSER default allkeys
    assert_equal "$(redis_on acl DBSIZE)" 0
}

@test "77: no right for one command of the scripts leaves no lock without an end" {
    local command key
    server_start acl
    for command in pexpire hincrby hset incr publish zadd del; do
        redis_on acl FLUSHALL
        redis_on acl ACL SETUSER default +@all
        redis_on acl ACL SETUSER default "-$command"
        try run -s "$(server_url acl)" -l "$(ms 500)" -n x -- true
        [[ $status == 0 || $status == 77 ]] || fail "without $command: $status, $stderr"
        redis_on acl ACL SETUSER default +@all
        for key in $(redis_on acl --scan | grep -v redisson_lock_token); do
            (($(redis_on acl PTTL "$key") != -1)) || fail "without $command: $key has no end"
        done
    done
    redis_on acl ACL SETUSER default -pexpire
    try run -s "$(server_url acl)" -n x -- touch ran
    assert_failure 77
    assert_file_not_exist ran
}

@test "77: a local: directory that others can enter" {
    mkdir -m 755 open
    try run -s "local:$PWD/open" -n x -- touch ran
    assert_failure 77
    assert_message
    assert_stderr_has "$PWD/open"
    assert_file_not_exist ran
}

@test "78: a config file that can't be understood, with its line" {
    printf '# fine\nwait = 3s\nlaese = 3s\n' >bad.conf
    RLOCK_CONFIG=$PWD/bad.conf try run -n x -- touch ran
    assert_failure 78
    assert_message
    assert_stderr_has "$PWD/bad.conf:3: " laese lease
    assert_file_not_exist ran
}

@test "126: the command can't be executed; the lock is given back" {
    echo 'not a program' >plain
    chmod 644 plain
    try run -n x -- ./plain
    assert_failure 126
    assert_message
    assert_equal "$stderr" "rlock: cannot run ./plain: permission denied: it is not executable"
    mkdir directory
    try run -n x -- ./directory
    assert_failure 126
    assert_equal "$stderr" "rlock: cannot run ./directory: it is a directory"
    printf '#!./plain\n' >script
    chmod 755 script
    try run -n x -- ./script
    assert_failure 126
    assert_equal "$stderr" "rlock: cannot run ./script: permission denied for its interpreter ./plain"
    assert_no_keys
    assert_equal "$(redis GET 'redisson_lock_token:{x}')" 3
}

@test "127: the command was not found; the lock is given back" {
    run -127 --separate-stderr rlock run -n x -- no-such-command
    assert_failure 127
    assert_equal "$stderr" "rlock: cannot run no-such-command: command not found"
    run -127 --separate-stderr rlock run -n x -- ./none
    assert_equal "$stderr" "rlock: cannot run ./none: no such file"
    assert_no_keys
    assert_equal "$(redis GET 'redisson_lock_token:{x}')" 2
}

@test "127: a command in one word is told how it was meant; a missing interpreter is named" {
    local word
    for word in 'sleep 1' '/bin/sleep 1'; do
        run -127 --separate-stderr rlock run -n x -- "$word"
        assert_equal "$stderr" "rlock: cannot run $word: command not found: give it as separate words, or with -c"
    done
    mkdir bin
    printf '#! /no/such/python3 -u\n' | tee bin/tool >script
    printf '#!/bin/sh\r\n' >dos
    chmod 755 bin/tool script dos
    PATH=$PWD/bin:$PATH
    for word in tool ./script; do
        run -127 --separate-stderr rlock run -n x -- "$word"
        assert_equal "$stderr" "rlock: cannot run $word: its interpreter /no/such/python3 was not found"
    done
    run -127 --separate-stderr rlock run -n x -- ./dos
    assert_message
    assert_stderr_has ./dos 'carriage return'
    assert_no_keys
}

@test "128+N: interrupted while waiting; the command never ran and nothing is left" {
    local signal
    hold x
    keys | sort >before
    for signal in INT:130 TERM:143 HUP:129 QUIT:131; do
        start run -n x -- touch ran
        wait_until 5 waiters x 1
        kill -"${signal%:*}" "$pid"
        reap "$pid" 1
        assert_equal "${signal%:*}:$status" "$signal"
        wait_until 2 waiters x 0
        diff before <(keys | sort)
    done
    assert_file_not_exist ran
    let_go x
    reap "$holder"
    assert_no_keys
}
