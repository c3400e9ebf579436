#!/usr/bin/env bats
# fair_faults.bats: the fair queue when waiters die or stand still, when the server does, and when the
# queue, a connection or a reply is lost.

load ../../lib/rlock
load ../../lib/queue

# --- waiters die -------------------------------------------------------------------------------

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

# --- faults ------------------------------------------------------------------------------------

@test "connections that listen are killed: nobody loses the place, the wake-up comes" {
    local before
    may_bury
    holds first fair
    join a b c
    before=$(redis LRANGE "$queue" 0 -1)
    redis CLIENT KILL TYPE pubsub
    redis CLIENT KILL TYPE normal
    wait_until 5 waiters x 3
    assert_equal "$(redis LRANGE "$queue" 0 -1)" "$before"
    redis CLIENT KILL TYPE pubsub
    finish first a b c
    assert_equal "$(order)" "first a b c"
    assert_gap first c 5000
    assert_no_keys
}

@test "the server stands still for nearly as long, or longer, as the dead are waited for: the order stays" {
    local before each
    may_bury
    holds first fair -l 60s
    join a b c
    before=$(redis LRANGE "$queue" 0 -1)
    for each in 4.8 8; do
        kill -STOP "$(server_pid main)"
        sleep "$each"
        kill -CONT "$(server_pid main)"
        wait_until 5 server_answers main
        redis CONFIG RESETSTAT
        wait_until 5 have_beaten 3
        assert_equal "$(redis LRANGE "$queue" 0 -1)" "$before"
    done
    finish first a b c
    assert_equal "$(order)" "first a b c"
    assert_no_keys
}

have_beaten() { # N
    (($(calls evalsha) >= $1))
}

@test "the queue is lost, in whole or in part: all come back, and all enter" {
    holds first fair
    join a b c
    redis DEL "$queue"
    wait_until 5 queued 3
    redis DEL "$scores"
    wait_until 5 scored 3
    redis DEL "$queue" "$scores" rlock_{queue,queue_beats}:'{x}'
    wait_until 5 queued 3
    redis DEL rlock_{queue,queue_beats}:'{x}'
    wait_until 5 numbered 3
    redis LPOP "$queue"
    redis ZPOPMAX "$scores"
    finish first a b c
    check_history --min-sections 4 history
    assert_no_keys
}

numbered() { # N
    (($(redis ZCARD 'rlock_queue:{x}') == $1))
}

scored() { # N
    (($(redis ZCARD "$scores") == $1))
}

# --- lost replies ------------------------------------------------------------------------------

@test "the reply to one that joins the queue is lost: one place, that of its priority, and it is kept" {
    proxy_start
    foreign_hold x 60000
    join a
    proxy lose-reply "$(sha acquire fair)" 1 3
    brief b
    act b fair --priority 7
    wait_until 5 queued 2
    join c
    assert_bitten lost-reply
    assert_equal "$(redis LLEN "$queue") $(redis ZCARD "$scores")" "3 3"
    foreign_release x
    finish a b c
    assert_equal "$(order)" "b a c"
    assert_no_keys
}

@test "the reply to a beat is lost: the waiter is woken at its turn all the same" {
    local before
    proxy_start
    holds first fair
    join a
    wait_until 5 waiters x 1
    before=$(requests "$(sha acquire fair)")
    proxy lose-reply "$(sha acquire fair)" 1
    wait_until 5 asked_since "$before" 2
    finish first a
    assert_bitten lost-reply
    assert_gap first a 1000
    assert_no_keys
}

asked_since() { # N MORE
    (($(requests "$(sha acquire fair)") >= $1 + $2))
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

@test "replies to giving back and to leaving are lost: nothing left, nobody harmed" {
    proxy_start
    holds first fair
    joins a
    join b
    proxy lose-reply "$(sha release)" 1 2
    signal TERM a
    gone 143 a
    assert_equal "$(redis LLEN "$queue")" 1
    finish first b
    assert_bitten lost-reply 2
    assert_equal "$(order)" "first b"
    assert_no_keys
}
