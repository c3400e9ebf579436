#!/usr/bin/env bats
# wait.bats: `rlock wait`: until nobody holds any of some locks; it takes nothing and writes nothing.

load ../../lib/rlock
load ../../lib/status
load ../../lib/latch

JAVA=77777777-2222-4333-8444-555555555555:7

@test "free names, and names that never were: 0 at once, nothing written, nothing printed" {
    local before
    before=$(changes)
    try wait x y
    assert_success
    assert_output ""
    assert_equal "$stderr" ""
    assert_equal "$(changes)" "$before"
}

@test "held: 75 when the wait is over, with the holder; -E; -x and -w 0 do not wait" {
    local before
    holds a run
    before=$(now_ms)
    try wait x -w 300ms
    assert_failure 75
    (($(now_ms) - before >= 300))
    assert_regex "$stderr" "rlock: x is not free after [0-9.]+m?s: held by .* pid ${pid_of[a]}"
    try wait -x x
    assert_failure 75
    try wait -w 0 -E 9 y x
    assert_failure 9
    try wait -xq -E 0 x
    assert_equal "$status: $stderr" '0: ' # as rlock run -xq is silent
    try wait -x --log json x
    assert_stderr_has '"level":"warning","event":"busy","message":"x is not free: ' '"name":"x","waited_ms":0'
    finish a
    try wait -x -n x
    assert_success
}

# freed_by COMMAND...: how long after COMMAND a wait for x, which has begun, ends: less than half a second.
freed_by() {
    local at waiter
    start wait x -w 30s
    waiter=$pid
    wait_until 10 grep -q '^rlock: waiting until x is free: ' err
    wait_until 10 listens
    "$@"
    at=$(now_ms)
    reap "$waiter"
    assert_equal "$status" 0
    (($(now_ms) - at < 500 * SLOW)) || fail "$(($(now_ms) - at)) ms after $*"
}

listens() { # [NAME]: to its release, or that of x
    [[ -n $(redis PUBSUB CHANNELS "redisson*${1-x}*") ]]
}

@test "each kind: it ends when the last holder gives it back, or the latch opens" {
    local kind
    for kind in run fair write 'sem --permits 2' read; do
        redis FLUSHALL >/dev/null
        # shellcheck disable=SC2086
        holds "${kind%% *}" $kind
        freed_by finish "${kind%% *}"
    done
    holds a read
    holds b read
    start wait x -w 30s
    waiter=$pid
    wait_until 10 listens
    finish a
    sleep 0.2
    kill -0 "$waiter"
    finish b
    reap "$waiter"
    assert_equal "$status" 0
    redis FLUSHALL >/dev/null
    try latch set -n x --count 1
    freed_by rlock latch down -n x
}

@test "Redisson's: its release, and the end of its lease" {
    redis HSET x "$JAVA" 1 >/dev/null
    redis PEXPIRE x 60000 >/dev/null
    freed_by redis EVAL "redis.call('DEL', KEYS[1]) redis.call('PUBLISH', 'redisson_lock__channel:{x}', '0')" 1 x
    redis HSET x "$JAVA" 1 >/dev/null
    redis PEXPIRE x 400 >/dev/null
    local before
    before=$(now_ms)
    try wait x -w 30s
    assert_success
    (($(now_ms) - before < 2000 * SLOW))
}

@test "all of several names; in no line, and without a key or a token" {
    local before
    holds a run
    try acquire run -n y -l 1m -q
    handle=$output
    before=$(keys | sort)
    start wait x y -w 30s
    waiter=$pid
    wait_until 10 listens
    assert_equal "$(keys | sort)" "$before"
    see x
    assert_seen 'v[0]["waiters"]' '[]'
    finish a
    sleep 0.3
    kill -0 "$waiter"
    try release "$handle"
    assert_success
    reap "$waiter"
    assert_equal "$status" 0
}

@test "while nothing happens it asks the server about once in five seconds" {
    local before after
    holds a run -l 1m
    start wait x
    waiter=$pid
    wait_until 10 listens
    sleep 0.5
    before=$(redis INFO stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')
    sleep 3
    after=$(redis INFO stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p')
    ((after - before < 60)) || fail "$((after - before)) commands"
    kill -INT "$waiter"
    reap "$waiter"
    assert_equal "$status" 130
    finish a
}

@test "a name with a star or brackets is that name, and no pattern" {
    redis HSET build-x "$JAVA" 1 >/dev/null
    try wait -x 'build-[x86]' 'b*' '?uild-x'
    assert_success
    redis HSET 'build-[x86]' "$JAVA" 1 >/dev/null
    try wait -x 'b*' 'build-[x86]'
    assert_failure 75
    assert_stderr_has 'build-[x86] is not free'
}

@test "the second name is listened to when the first is free" {
    foreign_hold x 60000
    foreign_hold y 60000
    start wait x y
    wait_until 10 listens
    foreign_release x
    wait_until 10 listens y
    local at
    at=$(now_ms)
    foreign_release y
    reap "$pid"
    assert_equal "$status" 0
    (($(now_ms) - at < 500 * SLOW)) || fail "$(($(now_ms) - at)) ms after the release"
}

@test "however often it is given back: it looks twenty times a second at most" {
    local began n
    foreign_hold x 60000
    start wait x
    wait_until 10 listens
    redis CONFIG RESETSTAT
    began=$(now_ms)
    for n in {1..200}; do
        redis PUBLISH 'redisson_lock__channel:{x}' 0 >/dev/null
    done
    n=$(calls evalsha)
    ((n > 1 && n <= ($(now_ms) - began) / 50 + 2)) || fail "$n times in $(($(now_ms) - began)) ms"
    redis DEL x
    reap "$pid"
    assert_equal "$status" 0
}

@test "a quorum: by a majority of the servers" {
    server_start m2
    server_start m3
    local three=(-s "$RLOCK_SERVER" -s "$(server_url m2)" -s "$(server_url m3)")
    redis HSET x "$JAVA" 1 >/dev/null
    try wait "${three[@]}" -x x
    assert_success
    redis_on m2 HSET x "$JAVA" 1
    try wait "${three[@]}" -x x
    assert_failure 75
    server_stop m3
    try wait "${three[@]}" -x x
    assert_failure 75
    server_stop m2
    try wait "${three[@]}" -x x
    assert_failure 69
}

@test "a server that only refuses: 69 at the end of the wait, not later" {
    server_start lone --replica-serve-stale-data no
    redis_on lone REPLICAOF 127.0.0.1 1 # nobody listens there
    took 0 3000 rlock wait -s "$(server_url lone)" -w 500ms x
    assert_failure 69
    assert_message
    assert_stderr_has MASTERDOWN
}

@test "no server: 69; no right: 77; no lock: 65; a server that goes away is waited for until the wait ends" {
    try wait -s "unix://$PWD/none" --connect-timeout 100ms x
    assert_failure 69
    redis SADD set 1 >/dev/null
    try wait set
    assert_failure 65
    redis CONFIG SET requirepass secret >/dev/null
    try wait x
    REDISCLI_AUTH=secret redis CONFIG SET requirepass '' >/dev/null
    assert_failure 77
    server_start lone
    redis_on lone HSET x "$JAVA" 1
    RLOCK_SERVER=$(server_url lone) start wait x -w "$(ms 1500)" --connect-timeout 100ms
    waiter=$pid
    wait_until 10 grep -q waiting err
    server_stop lone
    reap "$waiter"
    assert_equal "$status" 69
    grep -q 'cannot tell whether x is free' err
}

@test "a server that hangs while it is waited for ends the wait no later" {
    local began_ms
    server_start lone
    redis_on lone HSET x "$JAVA" 1
    began_ms=$(now_ms)
    RLOCK_SERVER=$(server_url lone) start wait x -w "$(ms 1500)"
    waiter=$pid
    wait_until 10 grep -q waiting err
    freeze lone
    reap "$waiter"
    thaw lone
    assert_equal "$status" 69
    grep -q 'cannot tell whether x is free' err
    (($(now_ms) - began_ms < 5000 * SLOW)) || fail "it took $(($(now_ms) - began_ms)) ms"
}
