#!/usr/bin/env bats
# sentinel_failover.bats: another server becomes the master, as planned or after a crash: who holds a lock and
# who waits for it goes along, and never are two within.

load ../../lib/rlock
load ../../lib/protected
load ../../lib/sentinel

# section_of NAME WHO [SECTION OPTION...] [-- RLOCK OPTION...]: a background rlock of NAME, whose sections
# are told in the file NAME, with their beats. pid_of[WHO] is its process.
declare -gA pid_of=()
section_of() {
    local name=$1 who=$2 words=()
    shift 2
    while (($# > 0)) && [[ $1 != -- ]]; do
        words+=("$1")
        shift
    done
    mkdir -p "$name.beats"
    log=$who start run -q -n "$name" "${@:2}" -- \
        "$SECTION" --log "$name" --beat-dir "$name.beats" --note "who=$who" "${words[@]}"
    pid_of[$who]=$pid
}

entered_by() { # NAME WHO
    grep -q " exit=- .* who=$2\$" "$1"
}

# ended_with STATUS|STATUS... WHO...: by themselves, within half a minute.
ended_with() {
    local expected=$1 who
    shift
    for who; do
        reap "${pid_of[$who]}"
        [[ $status =~ ^($expected)$ ]] || fail "$who: status $status, not $expected: $(cat "$who.err")"
    done
}

token_of() { # NAME WHO
    sed -n "s/.* token=\\([0-9]*\\) .* who=$2\$/\\1/p" "$1" | head -n 1
}

@test "control: who asks nobody believes the old master, and two are within" {
    usual_sentinels
    section_of x a --until let-go -- -s "$(port_url main)" -l "$(ms 2000)"
    wait_until 10 entered_by x a
    section_of x b --ms 200 -- -s "$(port_url one)"
    watch_servers x
    planned_failover
    ended_with 0 b
    : >let-go
    ended_with 0 a
    run check_history --beat-dir x.beats x
    assert_failure 1
    assert_output --partial overlap
    run judge_witness --min-masters 1000 x=x
    assert_failure 1
    assert_output --partial 'without a hold on one'
}

# The old master takes renewals for ten seconds more, and for one of them the other replica says yes to
# them. At each instant of a renewal's second that it may come, some holder is.
@test "planned, with a lease of 3 s: never two within, though the old master goes on for 10 s" {
    local begin n pairs=() names=(p1 p2 p3 p4 p5 p6)
    usual_sentinels
    begin=$(now_ms)
    for n in "${!names[@]}"; do
        wait_until 20 is_later $((begin + n * 370 * SLOW))
        section_of "${names[n]}" "a$n" --until let-go -- -l "$(ms 3000)"
        wait_until 10 entered_by "${names[n]}" "a$n"
        section_of "${names[n]}" "b$n" --ms 100 -- -l "$(ms 3000)"
    done
    for n in "${!names[@]}"; do
        wait_until 10 waiters "${names[n]}" 1
    done
    watch_servers "${names[@]}"
    planned_failover
    wait_until 20 follows main one
    : >let-go
    ended_with '0|76' a0 a1 a2 a3 a4 a5
    ended_with 0 b0 b1 b2 b3 b4 b5
    for n in "${names[@]}"; do
        check_history --beat-dir "$n.beats" --min-sections 2 "$n"
        pairs+=("$n=$n")
    done
    judge_witness --min-masters 6000 "${pairs[@]}"
    assert_nothing_left one
}

@test "planned, while it holds: the new master gets the renewals and the release" {
    local end
    protected -l "$(ms 6000)"
    planned_failover
    end=$(expiry x one)
    wait_until 6 renewed_on one "$end"
    : >let-go
    reap "$holder"
    # A renewal may have met the old master; it is said, and that it works again.
    assert_equal "$status: $(grep -v -e '^rlock: cannot renew .*; trying again, ' -e '^rlock: renewed .* again after ' err)" "5: "
    assert_nothing_left one
    try run -n x -- sh -c 'echo "$RLOCK_TOKEN"'
    ((output > 1)) || fail "token $output" # larger where a replica was late, and it was taken again
}

@test "planned, while it waits: the waiter listens on the new master, and is in when the lock is free" {
    foreign_hold x 60000
    section_of x b --ms 1
    wait_until 10 waiters x 1
    planned_failover
    wait_until 10 waiters x 1 one
    assert_file_not_exist x
    redis_on one DEL x
    redis_on one PUBLISH 'redisson_lock__channel:{x}' 0
    wait_until 2 entered_by x b
    ended_with 0 b
    assert_nothing_left one
}

@test "planned: the fair queue keeps its order" {
    local who
    foreign_hold x 60000
    for who in first second last; do
        start fair -q -n x -- "$SECTION" --log x --note "who=$who" --ms 20
        pid_of[$who]=$pid
        wait_until 10 standing "$who"
    done
    planned_failover
    wait_until 10 all_listen_to one
    redis_on one DEL x
    ended_with 0 first second last
    assert_equal "$(sed -n 's/.* exit=- .* who=//p' x | xargs)" "first second last"
    check_history x
    assert_nothing_left one
}

standing() { # WHO: as many as there are by now
    (($(redis LLEN 'redisson_lock_queue:{x}') == ${#pid_of[@]}))
}

all_listen_to() { # SERVER
    (($(redis_on "$1" PUBSUB CHANNELS 'redisson_lock__channel:{x}:*' | grep -c .) == ${#pid_of[@]}))
}

@test "crash, while it holds and another waits: both go along; the old master comes back empty and misleads nobody" {
    local end
    section_of x a --until let-go -- -l "$(ms 12000)"
    wait_until 10 entered_by x a
    section_of x b --ms 1
    wait_until 10 waiters x 1
    wait_until 5 stands_on one # the other replica alone may have acknowledged it (rlock-server(7), Replicas)
    crash
    taken_over
    end=$(expiry x one)
    wait_until 9 renewed_on one "$end"
    wait_until 9 waiters x 1 one
    come_back
    try run -x -n x -- true
    assert_failure 75
    : >let-go
    ended_with 0 a b
    check_history --beat-dir x.beats --min-sections 2 x
    assert_nothing_left one
}

@test "crash, and the lease is over before there is a new master: dead by then, and the waiter is in after it" {
    # The Sentinels take two seconds, however slow the machine.
    section_of x a --until let-go -- -l 1500ms
    wait_until 10 entered_by x a
    section_of x b --ms 1 -- -l 1500ms
    wait_until 10 waiters x 1
    wait_until 5 stands_on one
    watch_servers x
    crash
    ended_with 76 a
    taken_over
    ended_with 0 b
    check_history --beat-dir x.beats --min-sections 2 x
    judge_witness x=x
    (($(token_of x b) > $(token_of x a)))
}

@test "the master stands still, is replaced, and wakes up as a master: nobody goes back to it" {
    section_of x a --until let-go -- -l "$(ms 2000)"
    wait_until 10 entered_by x a
    section_of x b --until let-go -- -l "$(ms 2000)"
    wait_until 10 waiters x 1
    wait_until 5 stands_on one
    watch_servers x
    changed
    freeze main
    taken_over
    thaw main
    wait_until 10 follows main one
    : >let-go
    ended_with '0|76' a
    ended_with 0 b
    check_history --beat-dir x.beats --min-sections 2 x
    judge_witness x=x
    assert_nothing_left one
}

@test "the Sentinels forget the name, and are told again: who holds goes on, and who waits goes on waiting" {
    local name
    changed
    protected -l "$(ms 1500)"
    log=b start run -q -n x -- "$SECTION" --log b
    wait_until 10 waiters x 1
    for name in s1 s2 s3; do
        redis_on "$name" SENTINEL REMOVE m
    done
    redis CLIENT KILL TYPE pubsub # who waits must ask where to listen
    alive_for 2000
    for name in s1 s2 s3; do
        believes "$name" main
    done
    assert_kept 500
    reap "$pid" 10
    assert_equal "$status: $(cat b.err)" "0: "
    assert_file_exist b
    assert_nothing_left main
}
