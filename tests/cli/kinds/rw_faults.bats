#!/usr/bin/env bats
# rw_faults.bats: readers and writers that die, lose their hold, or lose replies. Of each kind: holds.bats,
# promise/lost_replies.bats.

load ../../lib/rlock
load ../../lib/rw

@test "a dead reader beside one that has a long lease: a writer waits for the dead one's own, no longer" {
    local end
    holds a read -l 60s
    holds dead read -l "$(ms 2000)"
    brief w
    waits w write
    signal KILL dead
    end=$(expiry "$(lease_key dead)")
    finish a
    gone 0 w
    assert_at "$end" w 3000 # at its next beat
    assert_no_keys
}

@test "a reader's lease or its field is gone: 76, and nothing is made again; other readers go on" {
    holds a read -l "$(ms 1000)"
    holds b read -l "$(ms 1000)"
    holds c read -l "$(ms 1000)"
    redis DEL "$(lease_key a)"
    redis HDEL x "$(told b owner)"
    gone 76 a b
    assert_regex "$(cat a.err)" '^rlock: lost x'
    assert_equal "$(field a)$(field b) $(field c)" " 1"
    finish c
    wait_until 2 assert_no_keys
}

@test "a writer that waits loses replies: readers are held back for it, and no longer" {
    proxy_start
    holds first read
    proxy lose-reply "$(sha acquire write)" 1 3
    act w write
    wait_until 5 test_marker 1
    waits r read
    assert_bitten lost-reply 3
    proxy lose-reply "$(sha release rw)" 1
    signal TERM w
    gone 143 w
    assert_bitten lost-reply 4
    test_marker 0
    wait_until 1 entered_section r
    finish first r
    assert_no_keys
}

test_marker() { # EXISTS
    (($(redis EXISTS "$marker") == $1))
}
