#!/usr/bin/env bats
# sem_wait.bats: waiting for permits: how long, who wakes and when, and what a waiter leaves behind.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/sem

# soon WHO: it enters within a second, and ends well.
soon() {
    wait_until 1 entered_section "$1"
    finish "$1"
}

# --- how long ----------------------------------------------------------------------------------------

@test "--wait: given up then, and nothing of the waiter is left" {
    holds a sem --permits 1
    took 600 1100 rlock sem -n x --permits 1 -w 600ms -- touch ran
    assert_failure 75
    took 0 500 rlock sem -n x --permits 1 -x -- touch ran
    assert_failure 75
    assert_file_not_exist ran
    standing 0
    wait_until 2 no_subscriptions
    finish a
    assert_at_rest 1
}

@test "--no-wait: at once, without subscribing" {
    holds a sem --permits 1
    redis CONFIG RESETSTAT
    took 0 500 rlock sem -n x -x -- touch ran
    assert_failure 75
    assert_equal "$(calls subscribe)" 0
    finish a
}

@test "the waiting line names a holder" {
    holds a sem --permits 1
    start sem -n x -- true
    wait_until 5 grep -q waiting err
    assert_regex "$(cat err)" \
        "^rlock: waiting .*for x \(sem\): held by $(id -un)@$(uname -n) pid ${pid_of[a]}( for [0-9]+(s|m))?, .*section"
    finish a
    reap "$pid"
    assert_equal "$status" 0
    assert_equal "$(wc -l <err)" 2
    assert_regex "$(tail -n 1 err)" '^rlock: took x after [0-9]+(ms|s), token 2$'
}

@test "128+N: interrupted while waiting: no permit taken, nothing left" {
    local pair
    holds a sem --permits 3 --take 2
    keys | sort >before
    for pair in INT:130 TERM:143 HUP:129 QUIT:131; do
        waits leaver --permits 3 --take 2
        signal "${pair%:*}" leaver
        gone "${pair#*:}" leaver
        wait_until 2 no_subscriptions
        diff before <(keys | sort)
        assert_permits 1 2
        assert_equal "$(redis HLEN 'rlock_hold:{x}') $(redis EXISTS 'rlock_wants:{x}')" "2 0"
    done
    refute_entered leaver
    finish a
    assert_at_rest 3
}

# --- who wakes ---------------------------------------------------------------------------------------

@test "a release wakes the waiter within milliseconds, whoever of the holders it is" {
    holds a sem --permits 2
    holds b sem
    waits next --permits 2
    finish b
    soon next
    assert_gap b next 1000
    finish a
    assert_at_rest 2
}

@test "waiters for 2 and for 1 both get in when 3 come back, in either order" {
    local take
    for take in 2 1; do
        holds a sem --permits 3 --take 3
        waits first --take $take
        waits second --take $((3 - take))
        finish a
        soon first
        soon second
        assert_at_rest 3
        rm history end-*
    done
}

@test "three waiters for one each get in when 3 come back at once" {
    holds a sem --permits 3 --take 3
    waits one
    waits two
    waits three
    finish a
    wait_until 1 entries 4
    finish one two three
    assert_at_rest 3
}

@test "a small request passes a big one that does not fit" {
    holds a sem --permits 3 --take 2
    waits big --take 2
    try sem -n x -x -- true
    assert_success
    holds b sem
    waits small
    finish b
    soon small
    refute_entered big
    finish a
    soon big
    assert_at_rest 3
}

@test "a big request gets in as soon as enough has come back one by one" {
    holds a sem --permits 3
    holds b sem
    holds c sem
    waits big --take 3
    finish a
    finish b
    assert_equal "$(redis GET x)" 2
    refute_entered big
    finish c
    soon big
    assert_at_rest 3
}

@test "--resize up: waiters enter at once, whatever number they came with" {
    holds a sem --permits 1
    waits with-old --permits 1
    waits without
    rlock sem -n x --resize 3
    soon without
    soon with-old
    finish a
    assert_at_rest 3
}

@test "20 waiters for 3 permits: each enters once, never more than 3, none sleeps on" {
    local n pids=()
    holds a sem --permits 3 --take 3
    for n in {1..20}; do
        log=$n start sem -q -n x --permits 3 -- "$SECTION" --log history.20 --ms 1
        pids+=("$pid")
    done
    wait_until 10 standing 20
    finish a
    for pid in "${pids[@]}"; do
        reap "$pid" 4
        assert_equal "$status" 0
    done
    check_history --rule permits=3 --min-sections 20 history.20
    assert_at_rest 3
}

@test "a Redisson client's releases wake one waiter after the other at once" {
    local one begin
    redis SET x 2
    foreign_take foreign-permit-1 60000
    foreign_take foreign-permit-2 60000
    waits one --permits 2
    waits two --permits 2
    for one in 1 2; do
        begin=$(now_ns)
        foreign_give "foreign-permit-$one"
        wait_until 6 entries $one
        assert_at "$begin" "$(order | cut -d ' ' -f $one)"
    done
    finish one two
    assert_at_rest 2
}

@test "--plain: a release wakes those whose request fits, and a Redisson client's release does" {
    redis SET x 3
    holds a sem --plain --permits 3
    redis DECRBY x 2 # two that a Redisson client has
    waits two --plain --take 2
    waits one --plain
    finish a
    soon one
    refute_entered two
    redis EVAL 'return redis.call("PUBLISH", KEYS[2], redis.call("INCRBY", KEYS[1], 2))' 2 x "$sem_channel"
    soon two
    assert_at_rest 3
}

@test "--plain: SIGTERM while waiting: 143, nothing taken, nothing left" {
    redis SET x 0
    waits leaver --plain
    signal TERM leaver
    gone 143 leaver
    refute_entered leaver
    assert_at_rest 0
}

# --- permits that come back without an event ---------------------------------------------------------

@test "a permit whose lease of 2 s ends comes back to a waiter after 1.9 to 2.1 s" {
    local begin
    redis SET x 1
    begin=$(now_ns)
    foreign_take foreign-permit-1 2000
    brief next
    waits next --permits 1
    gone 0 next
    (($(stamp next enter) - begin >= 1900000000)) || fail "after $(($(stamp next enter) - begin)) ns"
    (($(stamp next enter) - begin <= 2000000000 + 150000000 * SLOW)) || fail "after $(($(stamp next enter) - begin)) ns"
    assert_at_rest 1
}

@test "SIGKILL of two holders: a waiter enters at the end of either's lease" {
    local ends
    holds a sem --permits 2 -l "$(ms 1000)"
    holds b sem -l "$(ms 2000)"
    waits one
    waits two
    signal KILL a b
    ends=("$(permit_end 0)" "$(permit_end 1)")
    wait_until 8 entries 4
    assert_at "${ends[0]}" "$(order | cut -d ' ' -f 3)"
    assert_at "${ends[1]}" "$(order | cut -d ' ' -f 4)"
    finish one two
    assert_equal "$(redis GET x)" 2
}

@test "the first waiter gives up: the end of a permit's lease wakes the next" {
    local end
    redis SET x 1
    foreign_take foreign-permit-1 $((2000 * SLOW))
    end=$(permit_end 0)
    waits first --permits 1 -w "$(ms 800)"
    brief next
    waits next --permits 1
    gone 75 first
    gone 0 next
    assert_at "$end" next
    assert_at_rest 1
}

@test "--min-hold: rlock exits with the command, the permit stays until then, and its end wakes the waiter" {
    local end
    took 0 700 rlock sem -n x --permits 1 --min-hold "$(ms 1200)" -- sh -c 'exit 3'
    assert_failure 3
    end=$(permit_end 0)
    try sem -n x -x -- touch ran
    assert_failure 75
    brief next
    waits next
    gone 0 next
    assert_at "$end" next
    assert_at_rest 1
}

@test "the server's data is lost: the waiter sets the semaphore up again from its own --permits" {
    redis SET x 2
    foreign_take foreign-permit-1 600000
    foreign_take foreign-permit-2 600000
    waits next --permits 2
    redis FLUSHALL
    wait_until 6 entered_section next
    assert_permits 1 1
    finish next
    assert_at_rest 2
}

@test "the server crashes while one waits and comes back empty: the wait goes on, and the semaphore is set up again" {
    server_start lone
    redis_on lone SET x 0
    redis_on lone ZADD '{x}:timeout' 9999999999999 foreign-permit-1
    start sem -s "$(server_url lone)" -q -n x --permits 1 -- redis-cli -s "$BATS_FILE_TMPDIR/lone/sock" GET x
    wait_until 5 in_line x 1 lone
    server_stop lone
    server_start lone
    reap "$pid" 6
    assert_equal "$status" 0
    assert_equal "$(cat out)" 0
    assert_equal "$(redis_on lone GET x)" 1
}

# --- waiters that are not well -------------------------------------------------------------------------

@test "a lost subscription is made anew: the wake-up still comes" {
    holds a sem --permits 1
    brief next
    waits next
    redis CLIENT KILL TYPE pubsub
    finish a
    gone 0 next
    assert_gap a next 1500
    assert_at_rest 1
}

@test "a dead waiter and a stopped one do not keep the next from its turn" {
    holds a sem --permits 2 --take 2
    brief dead stopped next
    waits dead
    waits stopped
    waits next --take 2
    signal KILL dead
    signal STOP stopped
    finish a
    gone 0 next
    assert_gap a next 6000
    refute_entered dead
    signal CONT stopped
    gone 0 stopped
    assert_equal "$(redis GET x)" 2
}

@test "nothing stays of a waiter that was killed but what ends by itself" {
    local key
    holds a sem --permits 2 --take 2
    waits dead --take 2
    signal KILL dead
    finish a
    assert_equal "$(redis GET x)" 2
    for key in $(keys); do
        [[ $key == x || $key == redisson_lock_token:* ]] || (($(redis PTTL "$key") > 0)) || fail "$key has no end"
    done
    refute_entered dead
}
