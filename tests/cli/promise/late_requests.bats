#!/usr/bin/env bats
# late_requests.bats: what the network delivers after rlock has given up on it, or has ended, changes nothing:
# no later hold is freed, and no lock is taken for nobody. And doubt stays until it is ended. rlock-internals(7), LATE REQUESTS.

load ../../lib/rlock
load ../../lib/kinds

proxied=yes

# all_start OPTION... -- COMMAND...
all_start() {
    local kind
    for kind in "${kinds[@]}"; do
        # shellcheck disable=SC2086
        log=$kind start ${how[$kind]} -n "$kind" "$@"
        rlock_of["$kind"]=$pid
    done
}

@test "a request to take it that arrives after the end takes nothing" {
    all_meet hold-request acquire_of 1
    all_start --io-timeout "$io" -- sh -c 'exit 5'
    all_end 5
    all_are_free
    proxy deliver
    all_are_free
    assert_equal "$(redis KEYS 'rlock_tombstone:*' | wc -l)" "${#kinds[@]}"
    assert_bitten delivered "${#kinds[@]}"
}

@test "... nor does one of an rlock that gave up" {
    all_meet hold-request acquire_of 1
    all_start --io-timeout 60s -- true
    wait_until 10 assert_bitten lost-request "${#kinds[@]}"
    all_are_told TERM
    all_end 143
    proxy deliver
    assert_no_keys # a semaphore, too, was never set up
}

# The answer to the first request comes too late to start on it: given back, but that is late, too; taken again.
@test "a give-back that arrives after the next grant frees nothing, and a late answer starts nothing" {
    local kind group
    for group in 'run read sem' 'fair write'; do # each by another script
        read -ra kinds <<<"$group"
        fresh
        all_meet delay-reply acquire_of 1 $((900 * SLOW))
        all_meet hold-request release_of 1
        all_hold -l "$(ms 1200)" --io-timeout 60s
        proxy deliver
        for kind in "${kinds[@]}"; do
            # shellcheck disable=SC2086
            try ${rival[$kind]} -s "unix://$direct" -n "$kind" -x -- true
            assert_equal "$kind: $status" "$kind: 75"
        done
        all_end 5
        wait_until 5 all_are_free
        assert_bitten delayed "${#kinds[@]}"
        assert_bitten delivered "${#kinds[@]}"
    done
}

@test "of several names: a give-back of the first, late, while it waited for the second" {
    local kind
    for kind in run fair write; do
        fresh
        start "${rival[$kind]}" -s "unix://$direct" -n b -- sh -c 'echo >first; $SECTION --until let-go'
        wait_until 10 test -s first
        local holder=$pid
        proxy hold-request "$(release_of "$kind")" 1
        start "$kind" --io-timeout "$io" -n a -n b -- sh -c 'echo >in; $SECTION --until end; exit 5'
        wait_until 10 grep -q '^lost-request' proxy.log
        : >let-go
        wait_until 20 test -s in
        proxy deliver
        run -75 rlock "${rival[$kind]}" -s "unix://$direct" -n a -x -- true
        : >end
        reap "$pid"
        assert_equal "$kind $status" "$kind 5"
        reap "$holder"
        rm -f first in end
    done
}

# Without an answer it may hold the lock; what the server has against all requests just then does not end that.
@test "doubt outlives other answers: what may have been taken is given back" {
    local kind
    kinds=("${leased[@]}") # a plain permit is found again without a write, and is taken
    rlock sem -s "unix://$direct" -n sem --permits 1 -- true
    all_meet lose-request acquire_of 2 1000
    all_meet lose-reply acquire_of 1
    all_start -l 1h -- touch ran
    wait_until 10 assert_bitten lost-request "${#kinds[@]}"
    redis CONFIG SET min-replicas-to-write 1 >/dev/null
    proxy pass
    : >proxy.log
    for kind in "${kinds[@]}"; do
        wait_until 10 eval '(($(requests "$(acquire_of "$kind")") > 0))'
    done
    all_are_told STOP
    redis CONFIG SET min-replicas-to-write 0 >/dev/null
    all_are_told TERM CONT
    all_end 143
    assert_file_not_exist ran
    all_are_free
}
