#!/usr/bin/env bats
# latch_faults.bats: lost replies never count down twice, and the server goes away.

load ../../lib/rlock
load ../../lib/messages
load ../../lib/latch

setup() {
    rlock_setup
    io=$(ms 200)
}

faults='lose-reply mute-reply lose-request mute-request'

# --- lost replies ----------------------------------------------------------------------------------------

@test "the reply to a count-down is lost, or the request: counted once" {
    local fault left=9
    proxy_start
    rlock latch set -n x --count $left
    for fault in $faults; do
        proxy "$fault" "$(sha down latch)" 1
        try latch down --io-timeout "$io" -n x
        assert_success
        assert_equal "$stderr" ""
        assert_equal "$(redis GET x)" $((--left))
        proxy "$fault" "$(sha down latch)" 2 # the first is a look
        try latch down --io-timeout "$io" -n x -- true
        assert_success
        assert_equal "$(redis GET x)" $((--left))
        proxy pass
    done
    assert_bitten lost-reply 4
    assert_bitten lost-request 4
}

@test "the reply to the last count-down is lost: 0 without a warning, told once" {
    local fault
    proxy_start
    for fault in $faults; do
        rlock latch set -n x --count 1
        rm -f messages
        listen "$latch_channel"
        proxy "$fault" "$(sha down latch)" 1
        try latch down --io-timeout "$io" -n x
        assert_success
        assert_equal "$stderr" ""
        assert_equal "$(heard "$latch_channel")" 0
        assert_no_keys
        proxy pass
    done
    assert_bitten lost-reply 2
    assert_bitten lost-request 2
}

@test "the reply to a set is lost, or the request: set once, success, told once" {
    local fault
    proxy_start
    for fault in $faults; do
        rm -f messages
        listen "$latch_channel"
        proxy "$fault" "$(sha set latch)" 1
        try latch set --io-timeout "$io" -n x --count 3
        assert_success
        assert_equal "$stderr" ""
        assert_equal "$(redis GET x)" 3
        assert_equal "$(heard "$latch_channel")" 1
        proxy pass
        redis FLUSHALL
    done
    assert_bitten lost-reply 2
    assert_bitten lost-request 2
}

@test "the reply to a set is lost, and it is counted down or opens meanwhile: success, and it is not set anew" {
    local count left
    proxy_start
    for count in 3:2 1:; do
        left=${count#*:}
        : >proxy.log
        proxy mute-reply "$(sha set latch)" 1
        start latch set --io-timeout "$(ms 600)" -n x --count "${count%:*}"
        wait_until 5 grep -q lost-reply proxy.log
        rlock latch down -s "$(server_url main)" -n x
        reap "$pid"
        assert_equal "$status $(redis GET x)" "0 $left"
        redis DEL x
    done
    assert_tombstones_end
}

@test "the replies to looks are lost: the wait goes on, and ends when it opens" {
    local opened
    proxy_start
    rlock latch set -n x --count 1
    proxy lose-reply "$(sha acquire latch)" 1 2
    waits a
    wait_until 5 listening 1
    assert_bitten lost-reply 2
    proxy lose-reply "$(sha acquire latch)" 1
    opened=$(now_ns)
    rlock latch down -n x
    passes a "$opened" 1500
    assert_bitten lost-reply 3
}

@test "requests and replies are lost with probability 0.3: 60 count-downs of 60 open it, and not one less" {
    local seed n
    seed=${RLOCK_TEST_SEED:-$RANDOM}
    echo "seed $seed"
    proxy_start
    rlock latch set -n x --count 60
    proxy drop 0.3 "$seed" "$(sha down latch)"
    for n in {59..1}; do
        try latch down -n x
        assert_success
        assert_equal "$(redis GET x)" "$n"
    done
    (($(grep -c '^lost-' proxy.log) > 2)) # but one seed in a million
    proxy pass
    rlock latch down -n x
    assert_no_keys
}

# --- the server is away ----------------------------------------------------------------------------------

# counts OPTION...: a background rlock that counts down when its command, which ends when it is let go,
# has ended; returns when that runs.
counts() {
    rm -f ready let-go
    start latch down -n x "$@" -c 'echo >ready; until [ -e let-go ]; do sleep 0.01; done; exit "${CODE:-0}"'
    wait_until 5 test -s ready
}

@test "down -- CMD: the server is away at the count: 69" {
    proxy_start
    rlock latch set -n x --count 3
    counts --connect-timeout "$io" --io-timeout "$io"
    proxy refuse
    : >let-go
    reap "$pid" 5
    assert_equal "$status" 69
    stderr=$(cat err)
    assert_message
    assert_stderr_has x
    assert_equal "$(redis GET x)" 3
}

@test "down -- CMD: the server is away at the count and comes back in time: counted" {
    proxy_start
    rlock latch set -n x --count 3
    counts --connect-timeout "$(ms 5000)"
    proxy refuse
    : >let-go
    sleep 0.3 # it is trying
    proxy pass
    reap "$pid" 6
    assert_equal "$status" 0
    assert_equal "$(redis GET x)" 2
}

@test "down --always -- CMD: the server is away at the count: CMD's own status where it is not 0, and a message" {
    proxy_start
    rlock latch set -n x --count 3
    CODE=5 counts --always --connect-timeout "$io" --io-timeout "$io"
    proxy refuse
    : >let-go
    reap "$pid" 5
    assert_equal "$status" 5
    stderr=$(cat err)
    assert_message
    assert_stderr_has x
}

on_lone() { # N: so many wait there
    [[ $(redis_on lone PUBSUB NUMSUB "$latch_channel" | tail -n 1) == "$1" ]]
}

@test "wait: the server goes away and comes back: the wait goes on; not in time: 69" {
    local patient
    server_start lone --appendonly yes --appendfsync always
    redis_on lone SET x 1
    log=patient start latch wait -q -s "$(server_url lone)" -n x -- touch passed
    patient=$pid
    start latch wait -q -s "$(server_url lone)" -w 1500ms -n x -- touch ran
    wait_until 5 on_lone 2
    server_stop lone
    reap "$pid" 5
    assert_equal "$status" 69
    server_start lone --appendonly yes --appendfsync always
    wait_until 5 on_lone 1
    assert_file_not_exist passed
    rlock latch down -s "$(server_url lone)" -n x
    reap "$patient" 3
    assert_equal "$status" 0
    assert_file_exist passed
    assert_file_not_exist ran
}
