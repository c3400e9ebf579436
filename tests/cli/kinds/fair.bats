#!/usr/bin/env bats
# fair.bats: first come, first served: the order, who leaves the queue, fair's dealings with run; and when waiters die or
# stand still, or the queue, a connection or a request is lost. Redisson's waiters: tools/scripts.

load ../../lib/rlock
load ../../lib/queue

# --- leaving -----------------------------------------------------------------------------------

@test "who leaves is out of the queue at once, the others keep their order: 75, 143, 130" {
    holds first fair
    join a b
    joins timeout -w "$(ms 1500)"
    join c
    joins term
    joins int
    join d
    signal TERM term
    signal INT int
    gone 143 term
    gone 130 int
    gone 75 timeout
    assert_equal "$(redis LLEN "$queue") $(redis ZCARD "$scores")" "4 4"
    finish first a b c d
    assert_equal "$(order)" "first a b c d"
    assert_no_keys
}

@test "--no-wait does not go before those who queue, though the lock is free" {
    redis RPUSH "$queue" "$foreign_waiter"
    redis ZADD "$scores" $(($(now_ms) + 60000)) "$foreign_waiter"
    kept_out fair
    assert_message
    assert_keys "$queue" "$scores"
}

# --- run and fair ------------------------------------------------------------------------------

@test "run and fair of one name exclude each other; who waits by run is behind the queue" {
    holds first fair
    kept_out run
    act second run
    wait_until 5 waiters x 1
    join a b
    finish first a b
    wait_until 5 entered_section second # woken as the queue is empty
    assert_gap b second 1000
    kept_out fair
    finish second
    assert_equal "$(order)" "first a b second"
    check_history --min-sections 4 history
    assert_no_keys
}

# --- the dead, the stopped, and what is lost ----------------------------------------------------

@test "dead waiters and one that stands still, at the head and behind it, are passed over within 10 s in all" {
    local lone
    redis HSET y "$foreign_owner" 1
    log=lone start fair -n y -- true
    lone=$pid
    wait_until 5 waiters y 1
    holds first fair
    joins dead
    brief still
    joins still
    join a
    joins dead1
    join b
    joins dead2
    joins dead3
    join c
    signal KILL dead dead1 dead2 dead3
    kill -KILL "$lone"
    signal STOP still
    finish first a b c
    assert_gap first c 10000
    signal CONT still
    finish still
    assert_equal "$(order)" "first a b c still"
    assert_end_within 15000 y # of one with nobody behind it nothing is left either
}

@test "the queue is lost, in whole or in part: all come back, and all enter" {
    holds first fair
    join a b c
    redis DEL "$queue"
    wait_until 5 queued 3
    redis DEL "$scores"
    wait_until 5 members 3 "$scores"
    redis DEL "$queue" "$scores" rlock_{queue,queue_beats}:'{x}'
    wait_until 5 queued 3
    redis DEL rlock_{queue,queue_beats}:'{x}'
    wait_until 5 members 3 'rlock_queue:{x}'
    redis LPOP "$queue"
    redis ZPOPMAX "$scores"
    finish first a b c
    check_history --min-sections 4 history
    assert_no_keys
}

members() { # N KEY
    (($(redis ZCARD "$2") == $1))
}

@test "a live waiter whose connection falls silent keeps its place, and so do those far behind it" {
    local -a others=({b..r})
    holds first fair -l 60s
    proxy_start
    brief a
    joins a --io-timeout 60s # it does not wait so long for an answer while it has a place to lose
    RLOCK_SERVER=unix://$BATS_FILE_TMPDIR/main/sock
    join "${others[@]}"
    proxy mute-reply "$(sha acquire fair)" 1
    wait_until 10 grep -q '^lost-reply' proxy.log
    sleep 8 # a dead one would have lost its place by now
    finish first a "${others[@]}"
    assert_equal "$(order)" "first a ${others[*]}"
}

@test "a waiter for two names keeps its place in the line of one while the other cannot be taken" {
    local before tried
    was_tried() { (($(calls evalsha) >= $1)); }
    holds first fair
    brief a b
    joins a -n w
    joins b -n w
    before=$(redis LRANGE "$queue" 0 -1)
    redis CONFIG SET maxmemory 1
    tried=$(calls evalsha)
    wait_until 20 was_tried $((tried + 8))
    assert_equal "$(redis LRANGE "$queue" 0 -1)" "$before"
    redis CONFIG SET maxmemory 0
    finish first a b
    assert_equal "$(order)" "first a b"
    assert_no_keys
}

@test "several names: those that are free are left to others, and the order is kept, whichever is busy" {
    local before
    holds other fair
    joins a -n w
    brief b c d
    joins b -n w
    joins c -n w
    before=$(calls evalsha)
    sleep 1
    (($(calls evalsha) - before < 20))
    rlock run -x -n w -- true
    finish other
    wait_until 5 entered_section a # and has both
    joins d -n w
    finish a
    gone 0 b c d
    assert_equal "$(order)" "other a b c d"
    assert_no_keys
}

@test "who has become the head is there when a dead holder's lease ends" {
    local killed
    holds a fair
    joins b -l "$(ms 1000)"
    join c
    finish a
    wait_until 5 entered_section b
    killed=$(now_ns)
    signal KILL b
    gone 0 c
    assert_at "$killed" c 1800
    gone 137 b
    assert_no_keys
}

@test "a waiter that gives up, its word lost twice, has time for a third" {
    proxy_start
    foreign_hold x 60000
    proxy lose-request "$(sha release)" 1 2
    took 300 1500 rlock fair -w 300ms -n x -- true
    assert_bitten lost-request 2
    assert_equal "$(redis LRANGE "$queue" 0 -1)" ''
}

@test "it is free, and the first in line stands still: others are told that it is its turn, not that it holds it" {
    local first
    hold x
    log=first start fair -n x -- true
    first=$pid
    wait_until 5 queued 1
    kill -STOP "$first"
    let_go x
    reap "$holder"
    try fair -x -n x -- true
    assert_failure 75
    assert_regex "$stderr" "^rlock: cannot take x: it is the turn of [^ ]+ pid $first, true"
    kill -CONT "$first"
    reap "$first"
    assert_equal "$status" 0
}
