#!/usr/bin/env bats
# refusals.bats: a server that answers, and refuses. What passes is waited for: by who wants the lock
# until its wait ends, by who has it until its lease must end.

load ../../lib/rlock
load ../../lib/protected

setup_file() {
    build_section
    rlock_setup_file
}

setup() {
    rlock_setup
    rm -rf "$BATS_FILE_TMPDIR/odd" # the last one's data
    server_start odd --busy-reply-threshold 20 --replica-serve-stale-data yes
    proxy_start odd # it tells how often rlock has asked
}

# --- what can be wrong with it -----------------------------------------------------------------

begin_noreplicas() { redis_on odd CONFIG SET min-replicas-to-write 1; }
end_noreplicas() { redis_on odd CONFIG SET min-replicas-to-write 0; }

begin_oom() { redis_on odd CONFIG SET maxmemory 1; }
end_oom() { redis_on odd CONFIG SET maxmemory 0; }

# Nobody listens on port 1.
begin_readonly() { redis_on odd REPLICAOF 127.0.0.1 1; }
end_readonly() { redis_on odd REPLICAOF NO ONE; }

begin_masterdown() {
    redis_on odd CONFIG SET replica-serve-stale-data no
    begin_readonly
}
end_masterdown() { end_readonly; }

last_save() { # ok|err
    redis_on odd INFO persistence | grep "rdb_last_bgsave_status:$1"
}

begin_misconf() {
    mkdir -p "$BATS_FILE_TMPDIR/odd/dump.rdb/in the way"
    redis_on odd CONFIG SET save '3600 1'
    redis_on odd BGSAVE
    wait_until 5 last_save err
}
end_misconf() {
    rm -r "$BATS_FILE_TMPDIR/odd/dump.rdb"
    redis_on odd BGSAVE
    wait_until 5 last_save ok
}

says() { # WORD
    [[ $(redis_on odd PING) == "$1"* ]]
}

begin_busy() {
    env -u TEST_MARK redis-cli -s "$BATS_FILE_TMPDIR/odd/sock" EVAL 'while true do end' 0 >/dev/null 2>&1 3>&- 4>&- &
    helper_pids+=($!)
    wait_until 5 says BUSY
}
end_busy() { redis_on odd SCRIPT KILL; }

# A crash, and 20 s of reading what it had.
begin_loading() {
    redis_on odd CONFIG SET rdbcompression no
    redis_on odd EVAL 'for i = 1, 20000 do redis.call("SET", "k" .. i, string.rep("x", 100)) end' 0
    redis_on odd SAVE
    server_stop odd
    server_start odd --key-load-delay 1000 --loading-process-events-interval-bytes 1024
    says LOADING
}
end_loading() {
    redis_on odd CONFIG SET key-load-delay 0
    wait_until 10 says PONG
    redis_on odd EVAL 'for i = 1, 20000 do redis.call("DEL", "k" .. i) end' 0
}

# Said over a connection that is there already: no other is taken.
begin_clients() {
    mkfifo orders
    env -u TEST_MARK redis-cli -s "$BATS_FILE_TMPDIR/odd/sock" <orders >answers 2>&1 3>&- 4>&- &
    helper_pids+=($!)
    exec {orders}>orders
    echo 'CONFIG SET maxclients 1' >&"$orders"
    wait_until 5 says 'ERR max number of clients'
    turned_away >/dev/null
}
end_clients() {
    echo 'CONFIG SET maxclients 100' >&"$orders"
    exec {orders}>&-
    wait_until 5 says PONG
}

# How many were sent away so far.
turned_away() {
    local answered
    answered=$(grep -c '^rejected_connections' answers || true)
    echo 'INFO stats' >&"$orders"
    wait_until 5 told_more_than "$answered"
    sed -n 's/^rejected_connections:\([0-9]*\).*/\1/p' answers | tail -n 1
}

told_more_than() { # N
    (($(grep -c '^rejected_connections' answers) > $1))
}

more_turned_away() { # N
    (($(turned_away) >= $1))
}

# --- what rlock makes of it --------------------------------------------------------------------

asked() { # N [MATCH]
    (($(requests "${2:-.}") >= $1))
}

nothing_left() {
    local left
    left=$(redis_on odd --scan | grep -vE "$stays" || true)
    [[ -z $left ]] || fail "keys left behind: $left"
}

# at_the_door CONDITION WORDS: 69, and what it was, when the wait ends first; else in, once it is over.
at_the_door() {
    local before
    "begin_$1"
    took $((400 * SLOW)) $((400 * SLOW + 2600)) rlock run -q -w "$(ms 400)" -n x -- touch ran
    assert_failure 69
    assert_message
    assert_stderr_has x "$RLOCK_SERVER"
    assert_regex "${stderr,,}" "$2"
    assert_file_not_exist ran
    before=$(requests .)
    start run -q -n x -- "$SECTION" --log history
    wait_until 10 asked $((before + 2))
    assert_file_not_exist history
    "end_$1"
    reap "$pid" 5
    assert_equal "$status: $(cat err)" "0: "
    assert_file_exist history
    nothing_left
}

# for_a_while CONDITION: renewals are refused, and tried again until it is over.
for_a_while() {
    local before
    protected -l "$(ms 2100)"
    before=$(requests .)
    "begin_$1"
    wait_until 3 asked $((before + 2))
    "end_$1"
    assert_kept 2400
    nothing_left
}

# for_too_long CONDITION: dead before the lease's end, and not long before it. The last renewal that
# was confirmed came at most a third of the lease before the condition, and surely not after it.
for_too_long() {
    local asked_before before after ms=$((1000000 * SLOW))
    asked_before=$(requests .)
    protected -l "$(ms 1200)"
    before=$(now_ns)
    "begin_$1"
    after=$(now_ns)
    assert_lost
    asked $((asked_before + 4)) || fail "one renewal that was refused, and no other"
    (($(beat beat) < after + 1200 * ms)) || fail "alive after the lease's end"
    (($(beat beat) > before + 300 * ms)) || fail "dead $(((before - $(beat beat)) / ms + 400)) ms before it had to be"
}

@test "NOREPLICAS: waited for" { at_the_door noreplicas replicas; }
@test "NOREPLICAS while it runs: renewed when it is over" { for_a_while noreplicas; }
@test "NOREPLICAS until the lease's end: 76" { for_too_long noreplicas; }

@test "READONLY: waited for" { at_the_door readonly 'read.?only'; }
@test "READONLY while it runs: renewed when it is over" { for_a_while readonly; }
@test "READONLY until the lease's end: 76" { for_too_long readonly; }

@test "MASTERDOWN: waited for" { at_the_door masterdown master; }
@test "MASTERDOWN while it runs: renewed when it is over" { for_a_while masterdown; }
@test "MASTERDOWN until the lease's end: 76" { for_too_long masterdown; }

@test "MISCONF: waited for" { at_the_door misconf 'misconf|snapshot|disk'; }
@test "MISCONF while it runs: renewed when it is over" { for_a_while misconf; }
@test "MISCONF until the lease's end: 76" { for_too_long misconf; }

@test "BUSY: waited for" { at_the_door busy busy; }
@test "BUSY while it runs: renewed when it is over" { for_a_while busy; }
@test "BUSY until the lease's end: 76" { for_too_long busy; }

@test "LOADING: waited for" { at_the_door loading loading; }
@test "LOADING while it runs: renewed when it is over" { for_a_while loading; }
@test "LOADING until the lease's end: 76" { for_too_long loading; }

# Not through the proxy, which may lose what a server says before it hangs up.
@test "too many clients: each time it is said, and nobody is in doubt about the lock" {
    local n
    RLOCK_SERVER=$(server_url odd)
    begin_clients
    for n in {1..8}; do
        try run -q -w 50ms -n x -- touch ran
        assert_failure 69
        assert_message
        assert_stderr_has "max number of clients"
        refute_regex "$stderr" 'may stay held'
    done
    assert_file_not_exist ran
}

@test "too many clients: waited for" {
    local before
    RLOCK_SERVER=$(server_url odd)
    begin_clients
    before=$(turned_away)
    start run -q -n x -- "$SECTION" --log history
    wait_until 5 more_turned_away $((before + 2))
    assert_file_not_exist history
    end_clients
    reap "$pid" 5
    assert_equal "$status: $(cat err)" "0: "
    assert_file_exist history
    nothing_left
}

@test "too many clients while it runs: renewed when there are less" { for_a_while clients; }
@test "too many clients until the lease's end: 76" { for_too_long clients; }

@test "out of memory: waited for" { at_the_door oom 'oom|memory'; }

@test "out of memory while it runs: every kind is renewed, given back, and nothing is left" {
    local kind
    for kind in fair read write 'sem --permits 1'; do
        rm -f history let-go
        # shellcheck disable=SC2086
        start $kind -n "${kind%% *}" -l "$(ms 600)" -- "$SECTION" --log history --until let-go --exit 5
        wait_until 10 test -s history
        begin_oom
        wait_until 5 asked $(($(requests .) + 2))
        : >let-go
        reap "$pid"
        assert_equal "$kind: $status: $(cat err)" "$kind: 5: "
        end_oom
        [[ $kind != sem* ]] || assert_equal "$(redis_on odd GETDEL sem)" 1
        nothing_left
    done
}

@test "out of memory: a nested hold is given back, and the enclosing one stays" {
    start run -n x -- sh -c 'rlock run -n x -- sh -c "echo >in; until [ -e out ]; do sleep 0.01; done"
        echo $? >inner; until [ -e let-go ]; do sleep 0.01; done'
    wait_until 10 test -s in
    begin_oom
    : >out
    wait_until 5 test -s inner
    assert_equal "$(cat inner)" 0
    assert_equal "$(redis_on odd HVALS x)" 1
    : >let-go
    reap "$pid"
    assert_equal "$status: $(cat err)" "0: "
    nothing_left
}

@test "out of memory, and held by another: that is an answer: 75" {
    redis_on odd HSET x "$foreign_owner" 1
    begin_oom
    try run -x -n x -- touch ran
    assert_failure 75
    assert_file_not_exist ran
}

@test "a waiter outlasts a refusal: it is in when the lock is free and the server well again" {
    redis_on odd HSET x "$foreign_owner" 1
    redis_on odd PEXPIRE x $((1500 * SLOW))
    start run -q -n x -- "$SECTION" --log history
    wait_until 5 waiters x 1 odd
    begin_misconf
    wait_until 10 eval '[[ $(redis_on odd EXISTS x) == 0 ]]'
    wait_until 10 asked $(($(requests evalsha) + 2)) evalsha
    assert_file_not_exist history
    end_misconf
    reap "$pid" 7
    assert_equal "$status: $(cat err)" "0: "
    assert_file_exist history
    nothing_left
}
