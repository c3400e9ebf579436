#!/usr/bin/env bats
# sem_faults.bats: holders of permits that die or lose one, and a lost reply to --resize. Of each kind: holds.bats,
# promise/lost_replies.bats.

load ../../lib/rlock
load ../../lib/sem

@test "what is said of holders is said of the living" {
    holds dead sem --permits 2 -l "$(ms 500)"
    holds alive sem
    signal KILL dead
    wait_until 5 rlock sem -x -q -n x -- true
    try sem -x -n x --take 2 -- touch ran
    assert_failure 75
    assert_stderr_has "pid ${pid_of[alive]}"
    finish alive
    assert_at_rest 2
}

@test "76: one of two permits is taken away: the other comes back, and that one not a second time" {
    holds a sem --permits 2 --take 2 -l "$(ms 900)"
    # By somebody who does not ask whose it is.
    redis EVAL 'redis.call("ZPOPMIN", KEYS[2]) return redis.call("INCR", KEYS[1])' 2 x '{x}:timeout'
    gone 76 a
    assert_at_rest 2
}

@test "--resize: its reply or request is lost: the new number all the same, and success" {
    local fault
    proxy_start
    redis SET x 3
    foreign_take foreign-permit-1 600000
    for fault in lose-reply mute-reply lose-request mute-request; do
        rlock sem -s "$(server_url main)" -n x --resize 3
        proxy pass
        proxy "$fault" "$(sha resize sem)" 1
        try sem --io-timeout "$(ms 200)" -n x --resize 5
        assert_success
        assert_permits 4 1
    done
    assert_bitten lost-reply 2
    assert_bitten lost-request 2
}
