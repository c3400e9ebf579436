#!/usr/bin/env bats
# lost_replies.bats: a request or a reply lost on the network never takes a lock twice and never gives
# one back twice.

load ../../lib/rlock

setup_file() {
    build_section
    rlock_setup_file
}

setup() {
    rlock_setup
    proxy_start
    direct=$BATS_FILE_TMPDIR/main/sock
    io=$(ms 300)
}

# Holds of x as the command sees them, then its token.
run_and_look() {
    try run --io-timeout "$io" -n x -- sh -c 'redis-cli -s "$0" HVALS x; echo "$RLOCK_TOKEN"; exit 5' "$direct"
}

@test "the reply to the acquire is lost: one hold, one token, one section, nothing left" {
    local fault
    for fault in lose-reply mute-reply; do
        redis FLUSHALL
        proxy pass
        proxy "$fault" "$(sha acquire)" 1
        run_and_look
        assert_failure 5
        assert_output $'1\n1'
        assert_no_keys
    done
    assert_bitten lost-reply 2
}

@test "the replies to three acquires are lost" {
    proxy lose-reply "$(sha acquire)" 1 3
    run_and_look
    assert_failure 5
    assert_output $'1\n1'
    assert_bitten lost-reply 3
    assert_no_keys
}

@test "nested, and the reply is lost: the re-entry counts once" {
    proxy lose-reply "$(sha acquire)" 2
    try run -n x -- rlock run -x -n x -- redis-cli -s "$direct" HVALS x
    assert_success
    assert_output 2
    assert_bitten lost-reply
    assert_no_keys
}

@test "while waiting: the grant's reply is lost, and still one section" {
    foreign_hold x 60000
    start run --io-timeout "$io" -n x -- "$SECTION" --log history --exit 5
    wait_until 5 waiters x 1
    proxy lose-reply "$(sha acquire)" 1
    foreign_release x
    reap "$pid"
    assert_equal "$status" 5
    check_history history
    assert_bitten lost-reply
    assert_no_keys
}

@test "the reply is lost and the server gone until the wait ends: 69, no section, the doubt is told" {
    proxy mute-reply "$(sha acquire)" 1
    start run --io-timeout "$io" -w "$(ms 1500)" -l "$(ms 4000)" -q -n x -- touch ran
    wait_until 5 grep -q lost-reply proxy.log
    proxy refuse
    reap "$pid" 8
    assert_equal "$status" 69
    assert_file_not_exist ran
    stderr=$(cat err)
    assert_message
    assert_regex "$stderr" "x.*may|may.*x"
    wait_until 5 assert_free x
    assert_no_keys
}

@test "the request is lost: tried again, no gap in the tokens" {
    local fault
    for fault in lose-request mute-request; do
        redis FLUSHALL
        proxy pass
        proxy "$fault" "$(sha acquire)" 1
        run_and_look
        assert_failure 5
        assert_output $'1\n1'
    done
    assert_bitten lost-request 2
    assert_no_keys
}

@test "the reply comes after the lease's end: the command starts only on a lease that is sure" {
    proxy delay-reply "$(sha acquire)" 1 $((1000 * SLOW))
    try run -l "$(ms 600)" --io-timeout 5s -n x -- sh -c 'redis-cli -s "$0" HEXISTS x "$RLOCK_OWNER"; exit 5' "$direct"
    assert_failure 5
    assert_output 1
    assert_bitten delayed
    assert_no_keys
}

@test "a grant that took more than half of the lease to come is given back, with the reason" {
    proxy delay-reply "$(sha acquire)" 1 $((900 * SLOW))
    try run --log json -n x -l "$(ms 1200)" -- sh -c 'echo "$RLOCK_TOKEN"'
    assert_success
    assert_output 2
    assert_stderr_has "the answer took more than half of the lease"
    assert_bitten delayed
    assert_no_keys
}

@test "the reply comes after the lease's end, and somebody else has the lock: no section beside it" {
    proxy delay-reply "$(sha acquire)" 1 $((1200 * SLOW))
    start run -l "$(ms 500)" --io-timeout 5s -n x -- "$SECTION" --log history
    wait_until 5 grep -q delayed proxy.log
    rlock run -s "unix://$direct" -n x -- "$SECTION" --log history --ms $((1500 * SLOW))
    reap "$pid"
    assert_equal "$status" 0
    check_history --min-sections 2 history
    assert_no_keys
}

@test "replies to renewals are lost: tried again at once, the command goes on" {
    proxy lose-reply "$(sha renew)" 1 2
    start run -l "$(ms 900)" --io-timeout "$io" -n x -- "$SECTION" --log history --beat beat --until let-go --exit 5
    wait_until 10 test -s history
    alive_for 2500
    assert_bitten lost-reply 2
    : >let-go
    reap "$pid"
    assert_equal "$status" 5
    assert_no_keys
}

@test "a renewal's reply that never comes" {
    proxy mute-reply "$(sha renew)" 1
    start run -l "$(ms 1200)" -n x -- "$SECTION" --log history --beat beat --until let-go --exit 5
    wait_until 10 test -s history
    alive_for 2500
    assert_bitten lost-reply
    : >let-go
    reap "$pid"
    assert_equal "$status" 5
    assert_no_keys
}

@test "the release's reply is lost: the command's status, nothing left" {
    local fault
    for fault in lose-reply mute-reply lose-request mute-request; do
        proxy pass
        proxy "$fault" "$(sha release)" 1
        run_and_look
        assert_failure 5
        assert_no_keys
    done
    assert_bitten lost-reply 2
    assert_bitten lost-request 2
}

@test "nested: the inner release is repeated, the outer hold stays" {
    proxy lose-reply "$(sha release)" 1 2
    try run -n x -- sh -c 'rlock run -n x -- true; redis-cli -s "$0" HVALS x' "$direct"
    assert_success
    assert_output 1
    assert_bitten lost-reply 2
    assert_no_keys
}

@test "somebody else took the lock between the release and its repetition: not touched" {
    proxy mute-reply "$(sha release)" 1
    start run --io-timeout "$(ms 600)" -n x -- sh -c 'echo >ready; until [ -e let-go ]; do sleep 0.01; done; exit 5'
    holder=$pid
    wait_until 10 test -s ready
    log=next start run -s "unix://$direct" -n x -- \
        sh -c 'echo >entered; until [ -e finish ]; do sleep 0.01; done; redis-cli -s "$0" HGET x "$RLOCK_OWNER"' "$direct"
    wait_until 5 waiters x 1
    : >let-go
    wait_until 5 test -s entered
    reap "$holder"
    assert_equal "$status" 5
    assert_bitten lost-reply
    (($(requests "$(sha release)") >= 2))
    : >finish
    reap "$pid"
    assert_equal "$status" 0
    assert_equal "$(cat next.out)" 1
    assert_no_keys
}

@test "every reply is lost with probability 0.3: always one hold while in, nothing after" {
    local seed n
    seed=${RLOCK_TEST_SEED:-$RANDOM}
    echo "seed $seed"
    proxy drop 0.3 "$seed" evalsha
    for ((n = 0; n < 12 || $(grep -c '^lost-' proxy.log) < 5; n++)); do
        run_and_look
        assert_failure 5
        assert_equal "${lines[0]}" 1
        assert_free x
    done
    proxy pass
    wait_until 5 assert_no_keys
}
