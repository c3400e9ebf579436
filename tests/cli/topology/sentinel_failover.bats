#!/usr/bin/env bats
# sentinel_failover.bats: another server becomes the master, as planned or after a crash: who holds a lock and
# who waits for it goes along, and never are two within.

load ../../lib/rlock
load ../../lib/protected
load ../../lib/sentinel
load ../../lib/queue

# The old master takes renewals for ten seconds more, and for one of them the other replica says yes to
# them. At each instant of a renewal's second that it may come, some holder is.
@test "planned, with a lease of 3 s: never two within, though the old master goes on for 10 s" {
    local begin n pairs=() names=(p1 p2 p3 p4 p5 p6)
    changed
    pace 10000 2000 1000 # as everywhere
    begin=$(now_ms)
    for n in "${!names[@]}"; do
        wait_until 20 is_later $((begin + n * 370 * SLOW))
        section_of "${names[n]}" "a$n" "--until let-go" -l "$(ms 3000)"
        wait_until 10 entered_section "a$n" "${names[n]}"
        section_of "${names[n]}" "b$n" "--ms 100" -l "$(ms 3000)"
    done
    for n in "${!names[@]}"; do
        wait_until 10 waiters "${names[n]}" 1
    done
    section_of control a "--until let-go" -s "$(port_url main)" -l "$(ms 2000)"
    wait_until 10 entered_section a control
    section_of control b "--ms 200" -s "$(port_url one)"
    watch_servers "${names[@]}" control
    planned_failover
    wait_until 20 follows main one
    : >let-go
    gone '0|76' a a0 a1 a2 a3 a4 a5
    gone 0 b b0 b1 b2 b3 b4 b5
    for n in "${names[@]}"; do
        pairs+=("$n=$n")
    done
    check_history --min-sections 2 "${names[@]}"
    judge_witness --min-masters 6000 "${pairs[@]}"
    assert_nothing_left one

    # Who asks nobody believes the old master, and two are within: else all this would show nothing.
    run check_history control
    assert_failure 1
    assert_output --partial overlap
    run judge_witness --min-masters 1000 control=control
    assert_failure 1
    assert_output --partial 'without a hold on one'
}

# one_holds_one_waits [RLOCK OPTION...]: a and b, for x, which stands on main and one.
one_holds_one_waits() {
    section_of x a "--until let-go" "$@"
    wait_until 10 entered_section a x
    section_of x b "--ms 1" "$@"
    wait_until 10 waiters x 1
    wait_until 5 stands_on one # the other replica alone may have acknowledged it (rlock-server(7), Replicas)
}

# both_go_along COMMAND...: what makes one the master while a holds x and b waits for it.
both_go_along() {
    local command end
    one_holds_one_waits -l "$(ms 12000)"
    for command; do
        "$command"
    done
    end=$(expiry x one)
    wait_until 9 renewed_on one "$end"
    wait_until 9 waiters x 1 one
}

# both_end: as well as if nothing had been, the waiter when the other's end is told on the new master.
both_end() {
    : >let-go
    gone 0 a
    wait_until 2 entered_section b x
    gone 0 b
    check_history --min-sections 2 x
    assert_nothing_left one
}

@test "planned, while it holds and another waits: both go along" {
    both_go_along planned_failover
    both_end
}

@test "crash, while it holds and another waits: both go along; the old master comes back empty and misleads nobody" {
    both_go_along crash taken_over
    data_server main # as it is started everywhere: a master, and empty, until a Sentinel says otherwise
    wait_until 20 follows main one
    try run -x -n x -- true
    assert_failure 75
    both_end
}

@test "planned: the fair queue keeps its order" {
    foreign_hold x 60000
    join first second last
    planned_failover
    wait_until 10 waiters x 3 one
    redis_on one DEL x
    gone 0 first second last
    assert_equal "$(order)" "first second last"
    check_history history
    assert_nothing_left one
}

@test "crash, and the lease is over before there is a new master: dead by then, and the waiter is in after it" {
    one_holds_one_waits -l 1500ms # the Sentinels take two seconds, however slow the machine
    watch_servers x
    crash
    gone 76 a
    taken_over
    gone 0 b
    check_history --min-sections 2 x
    judge_witness x=x
}

@test "the master stands still, is replaced, and wakes up as a master: nobody goes back to it" {
    one_holds_one_waits -l "$(ms 2000)"
    watch_servers x
    changed
    freeze main
    taken_over
    thaw main
    wait_until 10 follows main one
    : >let-go
    gone '0|76' a
    gone 0 b
    check_history --min-sections 2 x
    judge_witness x=x
    assert_nothing_left one
}

@test "the Sentinels forget the name, and are told again: who holds goes on, and who waits goes on waiting" {
    local name
    changed
    protected -l "$(ms 1500)"
    act b run -q
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
    finish b
    assert_equal "$(cat b.err)" ""
    assert_nothing_left main
}

# The Sentinels name the old master for a second more: it says yes, and what it writes goes nowhere.
@test "planned, and given back or broken just as the replica is promoted: it is free on the new master" {
    local handle permit releases
    handle=$(rlock acquire run -n x -l 10m)
    rlock acquire run -n y -l 10m
    log=permit start sem -q --plain --permits 1 -n z -- "$SECTION" --log history --until let-go
    permit=$pid
    wait_until 10 test -s history
    changed
    pace 10000 2000 1000 # as everywhere
    order_failover
    wait_until 20 planned has_role one master
    : >let-go
    log=release start release -q "$handle"
    releases=$pid
    rlock break -q --force y
    reaps 0 "$releases"
    reaps 0 "$permit"
    wait_until 20 all_name one
    assert_equal "$(redis_on one EXISTS x y)" 0
    assert_equal "$(redis_on one GET z)" 1
}
