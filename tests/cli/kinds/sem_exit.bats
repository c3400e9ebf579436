#!/usr/bin/env bats
# sem_exit.bats: each row of the exit table that concerns `rlock sem`, but 64 (sem.bats, options.bats), 75
# (sem_wait.bats) and 76 (sem_faults.bats).

load ../../lib/rlock
load ../../lib/sem

@test "the command's own status, and 128+N when a signal ended it" {
    local own
    for own in 0 1 64 75 76 255; do
        try sem -n x --permits 2 -- sh -c "exit $own"
        assert_equal "$status" "$own"
        assert_equal "$stderr" ""
    done
    try sem -n x --permits 2 -- sh -c 'kill -TERM $$'
    assert_failure 143
    assert_at_rest 2
}

# rlock exits 65 and the key x is what it was, whatever is asked of it.
assert_wrong_kind() {
    local before arguments
    before=$(redis DUMP x | base64)
    for arguments in '--permits 3 -w 5s -- touch ran' '--plain -w 5s -- touch ran' '--resize 3'; do
        # shellcheck disable=SC2086
        try sem -n x $arguments
        assert_equal "$status: $arguments" "65: $arguments"
        assert_message
        assert_stderr_has x
        assert_equal "$(redis DUMP x | base64)" "$before"
        assert_keys x
    done
    assert_file_not_exist ran
}

@test "65: the name is a hash, a list, or a string that is no whole number" {
    redis HSET x "$foreign_owner" 1
    assert_wrong_kind
    redis DEL x
    redis RPUSH x a b
    assert_wrong_kind
    local text
    for text in text '' 1.5 99999999999999999999; do
        redis SET x "$text"
        assert_wrong_kind
    done
}

@test "65: the other kinds leave a semaphore alone" {
    local kind
    rlock sem -n x --permits 3 -- true
    for kind in run fair read write; do
        try $kind -n x -w 5s -- touch ran
        assert_failure 65
        assert_at_rest 3
    done
    assert_file_not_exist ran
}

@test "69: nothing listens there, after --connect-timeout and not after --wait" {
    took 400 2500 rlock sem -w 60s --connect-timeout 400ms -s unix:///nonexistent/sock -n x --permits 2 -- touch ran
    assert_failure 69
    assert_message
    assert_stderr_has unix:///nonexistent/sock x
    took 0 2000 rlock sem -x -s unix:///nonexistent/sock -n x --permits 2 -- touch ran
    assert_failure 69
    assert_file_not_exist ran
}

@test "69: nothing listens there: --resize, after --connect-timeout" {
    took 300 2500 rlock sem --connect-timeout 400ms -s unix:///nonexistent/sock -n x --resize 2
    assert_failure 69
    assert_message
    assert_stderr_has unix:///nonexistent/sock x
}

@test "69: the server is out of memory, or read-only" {
    local server
    server_start full --maxmemory 1 --maxmemory-policy noeviction
    server_start replica --replicaof 127.0.0.1 9
    for server in full replica; do
        took 300 5000 rlock sem -s "$(server_url $server)" -w 300ms -n x --permits 2 -- touch ran
        assert_failure 69
        assert_message
        try sem -s "$(server_url $server)" --connect-timeout 200ms --io-timeout 200ms -n x --resize 3
        assert_failure 69
        assert_message
        [[ $stderr == *memory* || $stderr == *'read only'* ]] || fail "not why: $stderr"
    done
    assert_file_not_exist ran
    assert_equal "$(redis_on full DBSIZE)" 0
}

@test "71: no process can be made; the permit is back" {
    command -v strace >/dev/null || skip "needs strace"
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    rlock sem -n x --permits 2 -- true
    run --separate-stderr strace -qq -o /dev/null \
        -e inject=fork,vfork,clone,clone3:error=EAGAIN "$RLOCK" sem -n x --permits 2 -- touch ran
    assert_failure 71
    assert_stderr_has "rlock: "
    assert_file_not_exist ran
    assert_at_rest 2
}

@test "77: a user without the right to the keys, or to scripts" {
    server_start acl
    redis_on acl ACL SETUSER default resetkeys '~other*'
    try sem -s "$(server_url acl)" -n x --permits 2 -- touch ran
    assert_failure 77
    assert_message
    try sem -s "$(server_url acl)" -n x --resize 2
    assert_failure 77
    assert_message
    redis_on acl ACL SETUSER default allkeys -eval -evalsha
    try sem -s "$(server_url acl)" -n x --permits 2 -- touch ran
    assert_failure 77
    assert_file_not_exist ran
    assert_equal "$(redis_on acl DBSIZE)" 0
}

three_and_no_more() {
    rlock sem -q -s "$(server_url acl)" -n x --permits 3 --take 3 -x -- true &&
        [[ $(redis_on acl GET x) == 3 && $(redis_on acl ZCARD '{x}:timeout') == 0 ]]
}

@test "77: no right for one command of the scripts loses no permit for good and makes none" {
    needs_server 7.0 'rights that scripts can ask about'
    local command wrong=
    server_start acl
    for command in set get decrby incrby zadd zrem zremrangebyscore hset hdel pexpire publish; do
        redis_on acl FLUSHALL
        redis_on acl SET x 3
        redis_on acl ACL SETUSER default "-$command"
        try sem -s "$(server_url acl)" -l "$(ms 200)" -n x --permits 3 --take 2 -- true
        [[ $status == 0 || $status == 77 ]] || fail "without $command: $status, $stderr"
        redis_on acl ACL SETUSER default +@all
        wait_until 1 three_and_no_more ||
            wrong+="$command: $(redis_on acl GET x) available, $(redis_on acl ZCARD '{x}:timeout') in use; "
    done
    assert_equal "$wrong" ""
}

@test "126, 127: the command can't be executed or was not found: the permit is back" {
    echo 'not a program' >plain
    chmod 644 plain
    try sem -n x --permits 1 -- ./plain
    assert_failure 126
    assert_message
    assert_at_rest 1
    run -127 --separate-stderr rlock sem -n x --permits 1 -- no-such-command
    assert_message
    assert_stderr_has no-such-command
    assert_at_rest 1
}
