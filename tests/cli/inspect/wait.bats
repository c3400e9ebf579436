#!/usr/bin/env bats
# wait.bats: `rlock wait`: until nobody holds any of some locks; it takes nothing and writes nothing.

load ../../lib/rlock
load ../../lib/status
load ../../lib/actors

@test "free names, and names that never were: 0 at once, nothing written, nothing printed" {
    local before
    before=$(changes)
    try wait x y
    assert_equal "$status$output$stderr" 0
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
    run -75 rlock wait -x x
    run -9 rlock wait -w 0 -E 9 y x
    try wait -xq -E 0 x
    assert_equal "$status: $stderr" '0: ' # as rlock run -xq is silent
    try wait -x --log json x
    assert_stderr_has '"level":"warning","event":"busy","message":"x is not free: ' '"name":"x",' '"waited_ms":0'
    finish a
    rlock wait -x -n x
}

# waiting NAME...: an rlock wait in the background, which listens to the release of the first that is held, x.
waiting() {
    start wait "$@" -w 30s
    wait_until 10 grep -q '^rlock: waiting until .* is free: ' err
    wait_until 10 listens
}

listens() { # [NAME]: to its release, or that of x
    [[ -n $(redis PUBSUB CHANNELS "redisson*${1-x}*") ]]
}

# still_waiting: it would have ended by now
still_waiting() {
    sleep 0.2
    kill -0 "$pid"
}

# over_by COMMAND...: it ends within half a second of it.
over_by() {
    local at
    "$@"
    at=$(now_ms)
    reaps 0 "$pid"
    (($(now_ms) - at < 500 * SLOW)) || fail "$(($(now_ms) - at)) ms after $*"
}

@test "each kind: it ends when the last holder gives it back, the latch opens, or the lease of Redisson's ends" {
    local kind
    for kind in run fair write 'sem --permits 2'; do
        redis FLUSHALL
        # shellcheck disable=SC2086
        holds "${kind%% *}" $kind
        waiting x
        over_by finish "${kind%% *}"
    done
    redis FLUSHALL
    holds a read
    holds b read
    waiting x
    finish a
    still_waiting
    over_by finish b
    rlock latch set -n x --count 1
    waiting x
    over_by rlock latch down -n x
    foreign_hold x 400
    within 2000 rlock wait x -w 30s
}

@test "all of several names, the second when the first, Redisson's, is free; in no line, and without a key or a token" {
    local before
    foreign_hold x 60000
    rlock acquire run -n y -l 1m -q
    before=$(keys | sort)
    waiting x y
    assert_equal "$(keys | sort)" "$before"
    see x
    assert_seen 'v[0]["waiters"]' '[]'
    foreign_release x
    wait_until 2 listens y # sooner than it looks by itself
    still_waiting
    over_by rlock break --force -q -w 0 y
}

@test "it looks about once in five seconds while nothing happens, and twenty times a second at most" {
    local before n
    foreign_hold x 60000
    waiting x
    sleep 0.5
    before=$(commands)
    sleep 3
    (($(commands) - before < 60)) || fail "$(($(commands) - before)) commands"
    redis CONFIG RESETSTAT
    before=$(now_ms)
    for n in {1..200}; do
        redis PUBLISH 'redisson_lock__channel:{x}' 0 >/dev/null
    done
    n=$(calls evalsha)
    ((n > 1 && n <= ($(now_ms) - before) / 50 + 2)) || fail "$n times in $(($(now_ms) - before)) ms"
    kill -INT "$pid"
    reaps 130 "$pid"
}

commands() {
    redis INFO stats | sed -n 's/^total_commands_processed:\([0-9]*\).*/\1/p'
}

@test "a name with a star or brackets is that name, and no pattern" {
    redis HSET build-x "$JAVA" 1
    rlock wait -x 'build-[x86]' 'b*' '?uild-x'
    redis HSET 'build-[x86]' "$JAVA" 1
    ends_saying 75 'build-[x86] is not free' -- wait -x 'b*' 'build-[x86]'
}

@test "no server: 69; no right: 77; no lock: 65; one that only refuses: 69 at the end of the wait, not later" {
    run -69 rlock wait -s "unix://$PWD/none" --connect-timeout 100ms x
    redis SADD set 1
    run -65 rlock wait set
    server_start guarded --requirepass secret
    run -77 rlock wait -s "$(server_url guarded)" x
    server_start lone --replica-serve-stale-data no
    redis_on lone REPLICAOF 127.0.0.1 1 # nobody listens there
    refuses 0 3000 69 MASTERDOWN -- wait -s "$(server_url lone)" -w 500ms x
}

@test "a server that is 100 ms away: when the wait is over it still says that it is held" {
    foreign_hold x 60000
    proxy_start
    proxy lag 100
    try wait -w 500ms x
    assert_failure 75
    assert_stderr_has 'x is not free after '
    grep -q "^lagged" proxy.log
}

@test "a server that goes away, or hangs, is waited for until the wait ends, and no longer" {
    local fault began_ms
    for fault in server_stop freeze; do
        server_start lone
        redis_on lone HSET x "$JAVA" 1
        rm -f err # of the fault before
        began_ms=$(now_ms)
        RLOCK_SERVER=$(server_url lone) start wait x -w "$(ms 1500)" --connect-timeout 100ms
        wait_until 10 grep -q waiting err
        "$fault" lone
        reap "$pid"
        assert_equal "$fault: $status" "$fault: 69"
        cat err && grep -q 'cannot tell whether x is free' err
        (($(now_ms) - began_ms < 2300 * SLOW)) || fail "$fault: $(($(now_ms) - began_ms)) ms"
    done
}
