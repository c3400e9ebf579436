#!/usr/bin/env bats
# wait.bats: waiting for a lock: who wakes, and when, and what it costs. How a wait ends, of each kind: kinds/waits.bats.

load ../../lib/rlock
load ../../lib/ports

# section_waits LOG: one more background rlock that will record a section of x.
section_waits() {
    log=$1 start run -n x -- "$SECTION" --log "$1"
}

# gap FROM TO: ms from one log's last exit to another's first entry.
gap() {
    echo $((($(entered "$2") - $(left "$1")) / 1000000))
}

# section_holds: x is held by a section until the file let-go is there; its log is first.
section_holds() {
    log=first start run -n x -- "$SECTION" --log first --until let-go
    holder=$pid
    wait_until 10 test -s first
}

@test "a release wakes the waiter within milliseconds" {
    section_holds
    section_waits second
    wait_until 5 waiters x 1
    : >let-go
    reap "$holder"
    reap "$pid"
    assert_equal "$status" 0
    (($(gap first second) < 200 * SLOW)) || fail "$(gap first second) ms"
}

# twenty_wait COMMAND...: twenty rlocks behind a holder; the command is run before they are started.
twenty_wait() {
    local n
    pids=()
    section_holds
    "$@"
    for n in {1..20}; do
        log=$n start run -q -n x -- "$SECTION" --log history --ms 1
        pids+=("$pid")
    done
    wait_until 20 waiters x 20
    wait_until 20 in_line x 20 # after that they sleep
}

# let_twenty_go: and sees that each enters once, at two scripts a hand-off.
let_twenty_go() {
    local begin enough
    redis CONFIG RESETSTAT
    begin=$(now_ms)
    : >let-go
    for pid in "${pids[@]}"; do
        reap "$pid"
        assert_equal "$status" 0
    done
    reap "$holder"
    check_history --min-sections 20 history
    # Those that still wait are heard five times a second, all together.
    enough=$((45 + ($(now_ms) - begin) / 200))
    (($(calls evalsha) <= enough)) || fail "$(calls evalsha) scripts for 20 hand-offs, not $enough"
    assert_no_keys
}

@test "20 waiters: each enters once, none beside another, at two scripts a hand-off" {
    twenty_wait true
    let_twenty_go
}

# Each of them finds nobody in the line before it, and is on everybody's channel from then on.
@test "20 waiters that come in one moment: at two scripts a hand-off as well" {
    twenty_wait redis CLIENT PAUSE 1500 ALL
    let_twenty_go
}

# Whoever won the last race: the woken one keeps its place, and the shared channel with it.
@test "one that was woken, and was too late for it, hears Redisson's next release at once" {
    section_holds
    section_waits second
    local second=$pid
    wait_until 5 waiters x 1
    section_waits third
    local third=$pid
    wait_until 5 waiters x 2
    kill -STOP "$second"
    : >let-go
    reap "$holder"
    foreign_hold x 60000
    kill -CONT "$second"
    wait_until 5 first_has_come
    wait_until 5 waiters x 2
    foreign_release x
    wait_until 1 test -s second
    reap "$second"
    reap "$third"
    cat first second third >history
    check_history --min-sections 3 history
}

# Since it was woken: lua/include/front.lua.
first_has_come() {
    [[ $(redis HGET 'rlock_beats:{x}' "$(redis ZRANGE 'rlock_waiters:{x}' 0 0)") != woken* ]]
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
        section_holds
        log=second start "$kind" -n x -- "$SECTION" --log second --beat beat2 --until let-go2
        wait_until 5 waiters x 1
        wait_until 2 is_alone "$pid"
        redis CONFIG RESETSTAT
        wait_until 10 heard_again # a heartbeat is a try
        wait_until 2 is_alone "$pid"
        : >let-go
        wait_until 10 test -s second
        assert [ -n "$(guardian_of "$pid")" ]
        : >let-go2
        reap "$pid"
        assert_equal "$status" 0
        reap "$holder"
        rm -f first second beat beat2 let-go let-go2
    done
}

heard_again() {
    (($(calls evalsha) > 0))
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
