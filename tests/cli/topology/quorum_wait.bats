#!/usr/bin/env bats
# quorum_wait.bats: waiting for a lock on a majority of servers: who wakes, how soon, what is left.

load ../../lib/rlock
load ../../lib/quorum

# waits WHO KIND [OPTION...]: started, and listening on each server that answers, as those before it.
waiting=0
waits() {
    act "$@"
    wait_until 5 listening $((waiting += 1))
}

@test "what a minority has granted is given back there while the others are waited for; Redisson's release wakes" {
    local begin
    foreign_on m1 m2 m3
    waits a run
    waits b run
    wait_until 2 eval '[[ $(on m4 m5 -- EXISTS x) != *1* ]]'
    brief a b
    foreign_gone m1 m2
    begin=$(now_ms)
    gone 0 a b
    (($(now_ms) - begin < 3000 * SLOW)) || fail "$(($(now_ms) - begin)) ms"
    only_foreign m3
}

@test "a dead holder's lease ends: the waiter enters then, and not before" {
    local end
    holds a run -l "$(ms 1500)"
    brief b
    waits b run
    signal KILL a
    end=$(majority_end x)
    gone 137 a
    gone 0 b
    assert_at "$end" b 2000
    wait_until 5 nothing_left
}

@test "--wait ends: 75 then; a signal: at once; nothing left on any server, nobody listens" {
    foreign_on m1 m3 m5
    took 500 1500 rlock run -w 500ms -n x -- true
    assert_failure 75
    took 500 1500 rlock run -w 500ms -n a -n x -n y -- true
    assert_failure 75
    waits a run
    signal TERM a
    reaps 143 "$pid" 5
    quiet "${all[@]}"
    only_foreign m1 m3 m5
    refute_entered a
}

@test "a waiter that is killed or stopped does not keep the next one from its turn" {
    holds a run
    waits dead run
    waits stopped run
    waits b run
    signal KILL dead
    signal STOP stopped
    brief b stopped
    finish a
    gone 0 b
    assert_gap a b 7000
    signal CONT stopped
    gone 0 stopped
    gone 137 dead
    check_history --min-sections 3 history
    wait_until 16 nothing_left
}

# What they give back there, when the others say no, they hear of themselves.
@test "a server that lacks the holder's hold: those who wait do not wake each other, nor themselves" {
    local kind handle
    quorum m1 m2 m3
    for kind in run write; do
        waiting=0
        handle=$(rlock acquire "$kind" -l 1h -n x)
        empty m1
        brief a b
        waits a "$kind"
        waits b "$kind"
        redis_on m1 CONFIG RESETSTAT
        sleep 1
        (($(calls evalsha m1) <= 20)) || fail "$kind: $(calls evalsha m1) scripts in a second"
        rlock release "$handle"
        gone 0 a b
        wait_until 3 nothing_left
    done
}
