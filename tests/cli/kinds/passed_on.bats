#!/usr/bin/env bats
# passed_on.bats: what the next in line is told, and what goes with one that leaves or dies.

load ../../lib/rlock

fair_waiters() { # N
    (($(redis LLEN 'redisson_lock_queue:{x}') == $1))
}

@test "fair: who has become the head is there when a dead holder's lease ends" {
    local a b begin
    hold x
    a=$holder
    log=b start fair -n x -l "$(ms 1000)" -- sh -c 'echo >b-holds; exec sleep 60'
    b=$pid
    wait_until 5 fair_waiters 1
    log=c start fair -n x -- true
    wait_until 5 fair_waiters 2
    let_go x
    reap "$a"
    wait_until 5 test -s b-holds
    kill -KILL "$b"
    begin=$(now_ms)
    reap "$pid"
    assert_equal "$status" 0
    (($(now_ms) - begin < 1800 * SLOW)) || fail "$(($(now_ms) - begin)) ms after the holder's death"
    reap "$b"
    assert_no_keys
}

@test "fair: a waiter that gives up, its word lost twice, has time for a third" {
    proxy_start
    foreign_hold x 60000
    proxy lose-request "$(sha release)" 1 2
    took 300 1500 rlock fair -w 300ms -n x -- true
    assert_bitten lost-request 2
    assert_equal "$(redis LRANGE 'redisson_lock_queue:{x}' 0 -1)" ''
}

@test "sem: what a killed waiter wanted is forgotten with it" {
    local b
    redis SET x 0
    redis ZADD '{x}:timeout' 9999999999999 one 9999999999999 two 9999999999999 three
    log=b start sem -n x --take 3 -- true
    b=$pid
    wait_until 5 in_line x 1
    log=c start sem -n x -- true
    wait_until 5 in_line x 2
    kill -KILL "$b"
    reap "$b"
    redis EVAL 'redis.call("ZREM", KEYS[2], "one") redis.call("SET", KEYS[1], 1)
        redis.call("PUBLISH", KEYS[3], 1)' 3 x '{x}:timeout' 'redisson_sc:{x}'
    reap "$pid"
    assert_equal "$status" 0
    redis DEL '{x}:timeout'
    assert_end_within 15000 x
}
