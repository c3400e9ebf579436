#!/usr/bin/env bats
# latch_exit.bats: each row of the exit table that concerns `rlock latch`, but 75 (latch.bats).

load ../../lib/rlock

# all_of STATUS [OPTION...]: each verb, with and without a command, ends with the status and a message; no
# command has run.
all_of() {
    local expected=$1 verb
    shift
    for verb in 'set --count 2' down 'down -- touch ran' 'wait -w 60s -- touch ran'; do
        # shellcheck disable=SC2086
        try latch ${verb%% *} "$@" -n x ${verb#"${verb%% *}"}
        assert_equal "$verb: $status" "$verb: $expected"
        assert_message
        assert_stderr_has x
    done
    assert_file_not_exist ran
}

@test "64: no word behind latch, or an unknown one, with the nearest; a latch's word without latch" {
    assert_usage latch set -- latch
    assert_usage doen 'latch down' -- latch doen -n x
    assert_usage frobnicate -- latch frobnicate -n x
    assert_usage down -- down -n x
}

@test "64: a count that is missing or can't be, and a verb with another's options" {
    local bad
    assert_usage --count -- latch set -n x
    for bad in '' 0 -1 1.5 abc 99999999999; do
        assert_usage --count -- latch set -n x --count="$bad"
        assert_usage --by -- latch down -n x --by="$bad" -- touch ran
    done
    assert_usage --count -- latch down -n x --count 2
    assert_usage --by -- latch wait -n x --by 2
    assert_usage --must-exist -- latch down -n x --must-exist
    assert_usage --wait -- latch down -n x --wait 2s
}

wrong_kind() {
    local before
    before=$(redis DUMP x | base64)
    all_of 65
    assert_equal "$(redis DUMP x | base64)" "$before"
    assert_keys x
}

@test "65: the name is a hash, a list, or a string that is no whole number" {
    redis HSET x "$foreign_owner" 1
    wrong_kind
    redis DEL x
    redis RPUSH x a b
    wrong_kind
    local text
    for text in text '' 1.5 99999999999999999999; do
        redis SET x "$text"
        wrong_kind
    done
}

@test "65: the other kinds leave a latch alone" {
    local kind
    rlock latch set -n x --count 2
    for kind in run fair read write; do
        try $kind -n x -w 5s -- touch ran
        assert_failure 65
        assert_equal "$(redis GET x)" 2
    done
    assert_file_not_exist ran
}

@test "65: permits that are taken are no latch, plain ones neither" {
    local plain verb
    for plain in '' --plain; do
        # shellcheck disable=SC2086
        start sem -n x --permits 3 $plain -- sh -c ': >ready; until [ -e end ]; do sleep 0.01; done'
        wait_until 10 test -e ready
        for verb in 'set --count 2' down 'wait -w 5s'; do
            # shellcheck disable=SC2086
            try latch $verb -n x
            assert_equal "$verb $status" "$verb 65"
            assert_equal "$(redis GET x)" 2
        done
        : >end
        reap "$pid"
        assert_equal "$status" 0
        assert_equal "$(redis GET x)" 3
        rm ready end
    done
}

@test "69: nothing listens there, after --connect-timeout" {
    local verb
    for verb in 'set --count 2' down 'down -- touch ran' 'wait -w 60s -- touch ran'; do
        # shellcheck disable=SC2086
        took 300 2000 rlock latch ${verb%% *} --connect-timeout 400ms -s unix:///nonexistent/sock \
            -n x ${verb#"${verb%% *}"}
        assert_failure 69
        assert_message
        assert_stderr_has unix:///nonexistent/sock x
    done
    assert_file_not_exist ran
}

@test "69: the server never answers" {
    proxy_start
    proxy hang
    all_of 69 --connect-timeout 200ms --io-timeout 200ms
}

@test "69: the server is out of memory, or read-only: nothing is set" {
    local server
    server_start full --maxmemory 1 --maxmemory-policy noeviction
    server_start replica --replicaof 127.0.0.1 9
    for server in full replica; do
        try latch set -s "$(server_url $server)" --connect-timeout 200ms --io-timeout 200ms -n x --count 2
        assert_failure 69
        assert_message
        [[ $stderr == *memory* || $stderr == *'read only'* ]] || fail "not why: $stderr"
    done
    assert_equal "$(redis_on full DBSIZE)" 0
}

@test "out of memory: a latch can still be waited for, counted down, and opened" {
    server_start full
    RLOCK_SERVER=$(server_url full)
    redis_on full SET x 3
    redis_on full CONFIG SET maxmemory 1
    try latch wait -x -n x
    assert_failure 75
    try latch down --connect-timeout 200ms --io-timeout 200ms -n x
    assert_success
    assert_equal "$(redis_on full GET x)" 2
    try latch down --connect-timeout 200ms --io-timeout 200ms -n x --by 2
    assert_success
    assert_equal "$(redis_on full EXISTS x)" 0
}

@test "71: no process can be made; nothing is counted" {
    command -v strace >/dev/null || skip "needs strace"
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    rlock latch set -n x --count 2
    run --separate-stderr strace -qq -o /dev/null \
        -e inject=fork,vfork,clone,clone3:error=EAGAIN "$RLOCK" latch down -n x -- touch ran
    assert_failure 71
    assert_stderr_has "rlock: "
    assert_file_not_exist ran
    assert_equal "$(redis GET x)" 2
}

@test "77: a user without the right to the keys" {
    server_start acl
    redis_on acl SET x 2
    redis_on acl ACL SETUSER default resetkeys '~other*'
    all_of 77 -s "$(server_url acl)"
    redis_on acl ACL SETUSER default allkeys
    assert_equal "$(redis_on acl GET x) $(redis_on acl DBSIZE)" "2 1"
}

@test "77: no right for one command of the scripts: what was refused has changed nothing" {
    needs_server 7.0 'rights that scripts can ask about'
    local command wrong=
    server_start acl
    for command in set get del decrby hset hexists pexpire publish; do
        redis_on acl FLUSHALL
        redis_on acl ACL SETUSER default "-$command"
        try latch set -s "$(server_url acl)" -n y --count 3
        redis_on acl ACL SETUSER default +@all
        [[ $status/$(redis_on acl GET y) == 0/3 || $status/$(redis_on acl GET y) == 77/ ]] ||
            wrong+="set without $command: $status, $(redis_on acl GET y); "
        redis_on acl SET x 3
        redis_on acl ACL SETUSER default "-$command"
        try latch down -s "$(server_url acl)" -n x
        redis_on acl ACL SETUSER default +@all
        [[ $status/$(redis_on acl GET x) == 0/2 || $status/$(redis_on acl GET x) == 77/3 ]] ||
            wrong+="down without $command: $status, $(redis_on acl GET x); "
    done
    assert_equal "$wrong" ""
}

@test "126, 127: CMD can't be executed or was not found: nothing is counted" {
    echo 'not a program' >plain
    chmod 644 plain
    rlock latch set -n x --count 2
    try latch down -n x -- ./plain
    assert_failure 126
    assert_message
    run -127 --separate-stderr rlock latch down -n x -- no-such-command
    assert_message
    assert_stderr_has no-such-command
    assert_equal "$(redis GET x)" 2
    try latch wait -n y -- ./plain
    assert_failure 126
    run -127 rlock latch wait -n y -- no-such-command
}

connected() {
    (($(redis CLIENT LIST TYPE normal | grep -vc cmd=client) == 1))
}

@test "128+N: interrupted before the latch was looked at: CMD never ran, nothing is counted" {
    proxy_start
    redis SET x 2
    proxy hang
    start latch down -n x -- touch ran
    wait_until 5 connected
    kill -TERM "$pid"
    reap "$pid" 2
    assert_equal "$status" 143
    proxy refuse
    assert_file_not_exist ran
    assert_equal "$(redis GET x)" 2
}
