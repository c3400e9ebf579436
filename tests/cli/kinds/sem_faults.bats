#!/usr/bin/env bats
# sem_faults.bats: holders of permits that die or lose them, and lost replies: permits come back once and
# are taken once.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/sem

setup() {
    rlock_setup
    direct=$BATS_FILE_TMPDIR/main/sock
    io=$(ms 200)
}

# protected OPTION...: a section in the background that beats until it is let go; its status is 5 then.
protected() {
    start sem -n x --permits 2 "$@" -- "$SECTION" --log protected --beat beat --until let-go --exit 5
    holder=$pid
    wait_until 10 test -s protected
}

# It was held throughout.
assert_kept() {
    : >let-go
    reap "$holder"
    assert_equal "$status" 5
}

# 76, the section is dead, and one line says so.
assert_lost() {
    reap "$holder"
    assert_equal "$status" 76
    run grep 'exit=[0-9]' protected
    assert_failure 1
    stderr=$(grep -v "^rlock: cannot renew x .*; trying again" err)
    assert_message
    assert_stderr_has x
}

# A holder of 2 of 3 permits, which shows how many are available and in use.
look() {
    try sem --io-timeout "$io" -n x --permits 3 --take 2 -- \
        sh -c 'redis-cli -s "$0" GET x; redis-cli -s "$0" --raw ZCARD "{x}:timeout"; exit 5' "$direct"
}

# --- a holder is lost, or its permit -----------------------------------------------------------------

@test "the lease is renewed for four times its length" {
    protected -l "$(ms 600)"
    alive_for 2400
    assert_permits 1 1
    assert_kept
    assert_at_rest 2
}

@test "SIGKILL of the holder's rlock: its permits come back with its lease, exactly once, and wake a waiter" {
    local end
    protected --take 2 -l "$(ms 1500)"
    brief next
    waits next --permits 2 --take 2
    kill -KILL "$holder"
    end=$(permit_end 0)
    gone 0 next
    assert_at "$end" next
    (($(beat beat) < $(stamp next enter)))
    assert_at_rest 2
}

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

@test "76: the permit is taken away: the command is stopped, and the permit not given back a second time" {
    protected -l "$(ms 900)"
    take_away
    assert_permits 2 0
    assert_lost
    assert_at_rest 2
}

@test "76: one of two permits is taken away: the other comes back" {
    protected --take 2 -l "$(ms 900)"
    take_away
    assert_lost
    assert_at_rest 2
}

@test "the server's data is lost: 76, the command is stopped and nothing is made again" {
    protected -l "$(ms 900)"
    redis FLUSHALL
    assert_lost
    assert_no_keys
}

@test "the data is lost and another sets the semaphore up: 76, and what is there is left alone" {
    protected --take 2 -l "$(ms 900)"
    redis FLUSHALL
    holds other sem --permits 3
    assert_lost
    assert_permits 2 1
    finish other
    assert_at_rest 3
}

@test "76: the permit was found gone at its release, though renewals were fine" {
    protected -l 30s
    take_away
    : >let-go
    reap "$holder"
    assert_equal "$status" 76
    assert_at_rest 2
}

@test "76: the server answers no more: the section is dead before another gets its permit" {
    proxy_start
    protected --take 2 -l "$(ms 1500)" --io-timeout "$io"
    proxy hang
    rlock sem -q -s "$(server_url main)" -n x --permits 2 -- "$SECTION" --log next
    assert_lost
    (($(beat beat) < $(entered next)))
    assert_at_rest 2
}

@test "out of memory: renewal and release still work" {
    server_start full
    RLOCK_SERVER=$(server_url full) protected --take 2 -l "$(ms 900)"
    redis_on full CONFIG SET maxmemory 1
    alive_for 1500
    assert_equal "$(redis_on full GET x)" 0
    assert_kept
    assert_equal "$(redis_on full GET x) $(redis_on full EXISTS '{x}:timeout')" "2 0"
}

# --- lost replies ------------------------------------------------------------------------------------

@test "the reply to the acquire is lost, or the request: permits are taken once" {
    local fault
    proxy_start
    for fault in lose-reply mute-reply lose-request mute-request; do
        proxy pass
        proxy "$fault" "$(sha acquire sem)" 1
        look
        assert_failure 5
        assert_output $'1\n2'
        assert_at_rest 3
    done
    proxy pass
    proxy lose-reply "$(sha acquire sem)" 1 3
    look
    assert_failure 5
    assert_output $'1\n2'
    assert_bitten lost-reply 5
    assert_bitten lost-request 2
    assert_at_rest 3
}

@test "while waiting: the grant's reply is lost, and still one section" {
    proxy_start
    redis SET x 1
    foreign_take foreign-permit-1 60000
    waits next --io-timeout "$io"
    proxy lose-reply "$(sha acquire sem)" 1
    foreign_give foreign-permit-1
    wait_until 5 entered_section next
    assert_permits 0 1
    finish next
    assert_equal "$(grep -c 'exit=-' history)" 1
    assert_bitten lost-reply
    assert_at_rest 1
}

@test "the reply is lost and the server gone until the wait ends: 69, and the permit comes back once" {
    proxy_start
    redis SET x 2
    proxy mute-reply "$(sha acquire sem)" 1
    start sem --io-timeout "$(ms 200)" -w "$(ms 800)" -l "$(ms 1500)" -q -n x --permits 2 -- touch ran
    wait_until 5 grep -q lost-reply proxy.log
    proxy refuse
    reap "$pid" 6
    assert_equal "$status" 69
    assert_file_not_exist ran
    stderr=$(cat err)
    assert_message
    assert_regex "$stderr" "x.*may|may.*x"
    assert_permits 1 1
    rlock sem -s "$(server_url main)" -q -n x --take 2 -w "$(ms 2000)" -- true
    assert_at_rest 2
}

@test "the reply comes after the lease's end: the command starts only with a permit that is sure" {
    proxy_start
    proxy delay-reply "$(sha acquire sem)" 1 $((1000 * SLOW))
    try sem -l "$(ms 600)" --io-timeout 5s -n x --permits 3 --take 2 -- \
        sh -c 'redis-cli -s "$0" GET x; redis-cli -s "$0" --raw ZCARD "{x}:timeout"; exit 5' "$direct"
    assert_failure 5
    assert_output $'1\n2'
    assert_bitten delayed
    assert_at_rest 3
}

@test "interrupted before the grant's reply has come: the permit is given back at once" {
    proxy_start
    proxy mute-reply "$(sha acquire sem)" 1
    start sem -q -n x --permits 2 -- touch ran
    wait_until 5 grep -q lost-reply proxy.log
    assert_permits 1 1
    kill -TERM "$pid"
    reap "$pid" 2
    assert_equal "$status" 143
    assert_file_not_exist ran
    assert_at_rest 2
}

@test "replies to renewals are lost: tried again at once, the command goes on" {
    proxy_start
    proxy lose-reply "$(sha renew sem)" 1 2
    protected -l "$(ms 900)" --io-timeout "$io"
    alive_for 2000
    assert_bitten lost-reply 2
    assert_kept
    assert_at_rest 2
}

@test "the release's reply is lost, or the request: permits come back once" {
    local fault
    proxy_start
    for fault in lose-reply mute-reply lose-request mute-request; do
        proxy pass
        proxy "$fault" "$(sha release sem)" 1
        look
        assert_failure 5
        assert_at_rest 3
    done
    assert_bitten lost-reply 2
    assert_bitten lost-request 2
}

@test "a release is repeated when another has the permit by then: that one is not touched" {
    proxy_start
    proxy mute-reply "$(sha release sem)" 1
    holds a sem --permits 1 --io-timeout "$(ms 600)"
    waits next -s "$(server_url main)"
    brief a
    wait_until 5 entered_section next
    gone 0 a
    (($(requests "$(sha release sem)") >= 2))
    assert_permits 0 1
    finish next
    assert_at_rest 1
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
        try sem --io-timeout "$io" -n x --resize 5
        assert_success
        assert_permits 4 1
    done
    assert_bitten lost-reply 2
    assert_bitten lost-request 2
}

@test "--plain: lost replies and requests take nothing twice and give nothing back twice" {
    local fault verb
    proxy_start
    for verb in acquire release; do
        for fault in lose-reply mute-reply lose-request mute-request; do
            proxy pass
            proxy "$fault" "$(sha $verb plain)" 1
            try sem --plain --io-timeout "$io" -n x --permits 3 --take 2 -- \
                sh -c 'redis-cli -s "$0" GET x; exit 5' "$direct"
            assert_failure 5
            assert_output 1
            assert_at_rest 3
        done
    done
    assert_bitten lost-reply 4
    assert_bitten lost-request 4
}

@test "every reply is lost with probability 0.3: available and in use are always N, and N at rest" {
    local seed n
    seed=${RLOCK_TEST_SEED:-$RANDOM}
    echo "seed $seed"
    proxy_start
    proxy drop 0.3 "$seed" evalsha
    for ((n = 0; n < 12 || $(grep -c '^lost-' proxy.log) < 5; n++)); do
        look
        assert_failure 5
        assert_output $'1\n2'
    done
    proxy pass
    assert_at_rest 3
}
