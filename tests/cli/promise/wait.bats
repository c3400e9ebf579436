#!/usr/bin/env bats
# wait.bats: waiting for a lock: who wakes, and when, and what it costs. How a wait ends, of each kind: kinds/waits.bats.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/ports

@test "a release wakes the waiter within milliseconds" {
    holds first run
    brief second
    act second run
    wait_until 5 waiters x 1
    finish first second
    assert_gap first second 200
}

# twenty_wait KIND [COMMAND...]: twenty rlocks behind a holder; the command is run before they are started. Then they are
# let go, and each enters once, at two scripts a hand-off.
twenty_wait() {
    local begin enough kind=$1
    holds first "$kind"
    "${@:2}"
    brief {1..20}
    for who in {1..20}; do
        act "$who" "$kind" -q
    done
    wait_until 20 waiters x 20
    # After that they sleep.
    wait_until 20 eval 'in_line x 20 || (($(redis LLEN "redisson_lock_queue:{x}") == 20))'
    redis CONFIG RESETSTAT
    begin=$(now_ms)
    finish first {1..20}
    check_history --min-sections 21 history
    rm history end-*
    # Those that still wait are heard five times a second, all together.
    enough=$((45 + ($(now_ms) - begin) / 200))
    (($(calls evalsha) <= enough)) || fail "$(calls evalsha) scripts for 20 hand-offs, not $enough"
    assert_no_keys
}

@test "20 waiters, fair ones, and 20 that come in one moment: each enters once, none beside another, at two scripts a hand-off" {
    twenty_wait run
    twenty_wait fair
    # Each of them finds nobody in the line before it, and is on everybody's channel from then on.
    twenty_wait run redis CLIENT PAUSE 1500 ALL
}

# Whoever won the last race: the woken one keeps its place, and the shared channel with it.
@test "one that was woken, and was too late for it, hears Redisson's next release at once" {
    holds first run
    brief second third
    act second run
    wait_until 5 waiters x 1
    act third run
    wait_until 5 waiters x 2
    signal STOP second
    finish first
    foreign_hold x 60000
    signal CONT second
    # The first has come since it was woken: lua/include/front.lua.
    wait_until 5 eval '[[ $(redis HGET "rlock_beats:{x}" "$(redis ZRANGE "rlock_waiters:{x}" 0 0)") != woken* ]]'
    wait_until 5 waiters x 2
    foreign_release x
    wait_until 1 entered_section second
    gone 0 second third
    check_history --min-sections 3 history
}

@test "a waiter costs next to nothing: a few commands in 4 seconds" {
    foreign_hold x 60000
    start run -q -n x -- true
    wait_until 5 waiters x 1
    wait_until 5 in_line x 1
    redis CONFIG RESETSTAT
    sleep 4
    (($(calls evalsha) <= 2)) || fail "$(calls evalsha) tries"
    foreign_release x
    reap "$pid"
}

is_alone() { # PID
    [[ -z $(children "$1") ]]
}

@test "who waits is one process: the guardian comes with the lock, also after tries in vain" {
    local kind
    for kind in run fair; do
        holds "first-$kind" run
        act "$kind" "$kind"
        wait_until 5 waiters x 1
        wait_until 2 is_alone "${pid_of[$kind]}"
        redis CONFIG RESETSTAT
        wait_until 10 eval '(($(calls evalsha) > 0))' # a heartbeat is a try
        wait_until 2 is_alone "${pid_of[$kind]}"
        finish "first-$kind"
        wait_until 10 entered_section "$kind"
        assert [ -n "$(guardian_of "${pid_of[$kind]}")" ]
        finish "$kind"
    done
}

# A try that the wait's own end has cut off tells nothing new.
@test "over a slow line the wait ends while a try is under way: the lock is busy all the same, 75" {
    local ms
    foreign_hold x 60000
    proxy_start
    proxy lag 150
    for ms in 350 400 450 500 550 600 650 700; do
        run -75 rlock run -w "${ms}ms" -n x -- touch ran
        assert_line --regexp '^rlock: cannot take x: held by '
    done
    proxy hang
    ends_saying 69 x -- run -w 300ms -n x -- touch ran
    assert_not_exists ran
}

@test "a server that is gone without a word is missed: the kernel asks for it while nothing is sent" {
    local port
    port=$(free_ports 1)
    server_start far --port "$port"
    redis_on far HSET x "$foreign_owner" 1
    start run -s "redis://127.0.0.1:$port" -n x -- true
    wait_until 5 waiters x 1 far
    wait_until 5 all_ask "$port"
    kill "$pid"
    reap "$pid"
}

# all_ask PORT: each connection to it, two at least, has the timer of keepalive, see proc(5).
all_ask() {
    awk -v "to=:$(printf %04X "$1")" '$4 == "01" && substr($3, 9) == to { all++; asks += substr($6, 1, 2) == "02" }
        END { exit !(all >= 2 && asks == all) }' /proc/net/tcp
}
