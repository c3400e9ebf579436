#!/usr/bin/env bats
# quorum_wait.bats: waiting for a lock on a majority of servers: who wakes, how soon, what is left.

load ../../lib/rlock
load ../../lib/quorum

# waits WHO KIND [OPTION...]: started, and listening on each server that answers.
waits() {
    local before
    before=$(redis_on "${alive[0]}" CLIENT LIST TYPE pubsub | grep -c . || true)
    act "$@"
    wait_until 5 listening $((before + 1))
}

@test "run, read, write: the end of a hold wakes the waiter within milliseconds" {
    local pair holder waiter
    brief waiter
    for pair in 'run run' 'write read' 'write write' 'read write'; do
        read -r holder waiter <<<"$pair"
        rm -f history end-holder
        holds holder "$holder" -l 30s
        waits waiter "$waiter" -l 30s
        finish holder
        gone 0 waiter
        assert_gap holder waiter 1500
    done
    nothing_left
}

@test "two servers hang: hand-over by those that answer, as fast" {
    local n
    pause m2 m4
    holds a run
    brief b c
    waits b run
    waits c run
    finish a
    gone 0 b c
    n=$(order)
    assert_gap a "$(cut -d ' ' -f 2 <<<"$n")" 2500
    assert_gap "$(cut -d ' ' -f 2 <<<"$n")" "$(cut -d ' ' -f 3 <<<"$n")" 2500
    check_history --min-sections 3 history
    resume m2 m4
    wait_until 5 nothing_left
}

# On m1 a foreigner stays on, so that what the others say decides nothing; m4 and m5 could. They are known to hang when they
# have not answered for 250 ms: before that a try that nothing else decides waits for them, once.
@test "two servers hang: they hold up no try that finds others" {
    local begin
    foreign_on m1 m2 m3
    pause m4 m5
    brief a
    waits a run
    sleep "0.$((3 * SLOW))"
    on m2 -- CONFIG RESETSTAT
    foreign_gone m2 m3
    wait_until 5 tried m2
    foreign_gone m1
    begin=$(now_ns)
    gone 0 a
    (($(stamp a enter) - begin < 1500000000 * SLOW)) || fail "$((($(stamp a enter) - begin) / 1000000)) ms"
    resume m4 m5
    wait_until 5 nothing_left
}

# It has been asked again; its scripts it has from the first try.
tried() { # MEMBER
    (($(calls evalsha "$1") > 0))
}

@test "a server that hung, and is slow now, gives the vote that is needed" {
    through_proxy
    foreign_on m2 m3 m4
    proxy hang
    dead m1
    brief a
    waits a run
    on m5 -- CONFIG RESETSTAT
    foreign_gone m3
    wait_until 5 tried m5
    proxy pass
    proxy lag 300
    gone 0 a
    proxy pass
    alive+=(m1)
    foreign_gone m2 m4
    wait_until 5 nothing_left
}

@test "a waiter whose connections are all cut hears of the end nevertheless" {
    holds a run
    brief b
    waits b run
    everywhere CLIENT KILL TYPE pubsub
    wait_until 5 listening 1
    finish a
    gone 0 b
    assert_gap a b 2000
}

@test "held by others on a majority: a Redisson client's release wakes, wherever it comes" {
    local begin
    foreign_on m1 m2 m3
    brief a
    waits a run
    foreign_gone m1 m2
    begin=$(now_ns)
    gone 0 a
    (($(stamp a enter) - begin < 2000000000 * SLOW)) || fail "$((($(stamp a enter) - begin) / 1000000)) ms"
    only_foreign m3
}

@test "what a minority has granted is given back there while the others are waited for" {
    foreign_on m1 m2 m3
    waits a run
    waits b run
    wait_until 2 free_there m4 m5
    brief a b
    foreign_gone m1 m2 m3
    gone 0 a b
    nothing_left
}

free_there() { # MEMBER...
    [[ $(on "$@" -- EXISTS x) != *1* ]]
}

@test "a dead holder's lease ends: the waiter enters then, and not before" {
    local end
    holds a run -l "$(ms 1500)"
    brief b
    waits b run
    signal KILL a
    end=$(majority_end x)
    gone 0 b
    (($(stamp b enter) >= end - 2000000))
    (($(stamp b enter) - end < 2000000000 * SLOW)) || fail "$((($(stamp b enter) - end) / 1000000)) ms"
    gone 137 a
    wait_until 5 nothing_left
}

@test "--wait ends: 75 then, nothing left, nobody listens" {
    foreign_on m1 m2 m3 m4 m5
    took 500 1500 rlock run -w 500ms -n x -- touch ran
    assert_failure 75
    only_foreign m1 m2 m3 m4 m5
    took 500 1500 rlock run -w 500ms -n a -n x -n y -- touch ran
    assert_failure 75
    assert_file_not_exist ran
    only_foreign m1 m2 m3 m4 m5
}

@test "SIGTERM, SIGINT while waiting: at once, nothing left on any server" {
    local signal
    foreign_on m1 m3 m5
    for signal in INT:130 TERM:143 HUP:129; do
        waits a run
        signal "${signal%:*}" a
        reap "$pid" 5
        assert_equal "${signal%:*}:$status" "$signal"
        wait_until 5 listening_no_more
        only_foreign m1 m3 m5
    done
    refute_entered a
}

listening_no_more() {
    ! listening 1
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

@test "split votes: three at once, twenty times: each gets it within seconds" {
    local round who
    brief a b c
    for round in {1..20}; do
        for who in a b c; do
            act "$who" run -q -w "$(ms 5000)"
        done
        gone 0 a b c
    done
    check_history --min-sections 60 history
    nothing_left
}

@test "split votes between writers and readers, on servers that answer in different orders" {
    local round
    brief w1 w2 r1 r2
    for round in {1..8}; do
        act w1 write -q -w "$(ms 5000)"
        RLOCK_SERVER=$(urls m5 m4 m3 m2 m1) act w2 write -q -w "$(ms 5000)"
        act r1 read -q -w "$(ms 5000)"
        RLOCK_SERVER=$(urls m3 m1 m5 m2 m4) act r2 read -q -w "$(ms 5000)"
        gone 0 w1 w2 r1 r2
    done
    check_history --rule rw --min-sections 32 history
    nothing_left
}

@test "a waiter costs next to nothing: a few commands in 2 seconds" {
    foreign_on m1 m2 m3 m4 m5
    waits a run -q
    everywhere CONFIG RESETSTAT
    sleep 2
    (($(calls evalsha m1) + $(calls eval m1) <= 2)) || fail "$(calls evalsha m1) tries"
    brief a
    foreign_gone m1 m2 m3 m4 m5
    gone 0 a
}

@test "the waiting line names the holder, and all servers' addresses have no password" {
    holds a run
    waits b run
    wait_until 5 grep -q waiting b.err
    assert_regex "$(cat b.err)" "^rlock: waiting .*for x.*held by $(id -un)@$(uname -n) pid ${pid_of[a]}"
    brief b
    finish a
    gone 0 b
    assert_equal "$(wc -l <b.err)" 2 # waiting; and taken
}
