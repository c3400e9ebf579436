#!/usr/bin/env bats
# replicas.bats: --replicas: a hold, and each renewal, counts once so many replicas have it.

load ../../lib/rlock
load ../../lib/queue
load ../../lib/protected
load ../../lib/replicas

setup_file() {
    build_section
    port_server main
    replica_server one main
}

teardown_file() {
    server_stop one
    server_stop main
}

setup() {
    rlock_setup
    RLOCK_SERVER=$(port_url main)
    short=(--replicas 1 --replica-timeout "$(ms 200)")
    wait_until 10 follows one main
    assert_equal "$(redis_on one EXISTS x)" 0
}

teardown() {
    thaw one
    rlock_teardown
}

waits_done() { # N
    (($(calls wait) >= $1))
}

# lacks_replica FROM TO ARG...: 69, for that, after so many ms.
lacks_replica() {
    refuses "$1" "$2" 69 x "$RLOCK_SERVER" replica -- "${@:3}" -n x -- touch ran
}

@test "a silent replica: waited for, others get in between the tries, and the command starts when it is back" {
    freeze one
    start run -q "${short[@]}" -n x -- "$SECTION" --log history
    wait_until 10 waits_done 2
    rlock run -q --replicas 0 -w "$(ms 5000)" -n x -- true
    assert_file_not_exist history
    thaw one
    reap "$pid" 5
    assert_equal "$status: $(cat err)" "0: "
    assert_file_exist history
    assert_no_keys
}

came() { # WHO...: the order in which they entered
    local who
    for who; do
        echo "$(stamp "$who" enter) $who"
    done | sort -n | cut -d ' ' -f 2 | xargs
}

@test "a silent replica while fair changes hands: they were granted it in vain, and come back before those behind" {
    local who token
    holds a fair --replicas 0
    for who in b c d e; do
        joins "$who" -q "${short[@]}"
    done
    freeze one
    token=$(redis GET 'redisson_lock_token:{x}')
    finish a
    wait_until 10 eval '(($(redis GET "redisson_lock_token:{x}") >= token + 4))'
    thaw one
    wait_until 10 queued 3
    finish b c d e
    run came b c d e
    assert_output --regexp '^(b c|c b) d e$'
}

@test "a silent replica: 69 when the wait ends, or after one --replica-timeout; that it was that, and nothing is left" {
    freeze one
    lacks_replica $((1000 * SLOW)) $((1000 * SLOW + 1200)) run -q "${short[@]}" -w "$(ms 1000)"
    lacks_replica $((700 * SLOW)) $((700 * SLOW + 600)) run -q -x --replicas 1 --replica-timeout "$(ms 700)"
    assert_nothing_left main
    ends_saying 69 replica -- \
        latch set -q "${short[@]}" --connect-timeout "$(ms 300)" --io-timeout "$(ms 300)" -n l --count 1
    redis FLUSHALL >/dev/null
    thaw one
    assert_equal "$(redis WAIT 1 2000)" 1
    assert_equal "$(redis_on one EXISTS x)" 0
}

@test "held by another is an answer, whatever the replica does: 75, at once" {
    foreign_hold x 60000
    freeze one
    refuses 0 900 75 x -- run -x --replicas 1 -n x -- touch ran
}

@test "every kind, and several names: all or nothing" {
    local kind kinds=(run fair read write 'sem --permits 2' 'run -n y' 'write -n y')
    for kind in "${kinds[@]}"; do
        # shellcheck disable=SC2086
        try $kind --replicas 1 -n x -- true
        assert_equal "$kind: $status" "$kind: 0"
        redis FLUSHALL
        freeze one
        # shellcheck disable=SC2086
        lacks_replica 0 $((9000 * SLOW)) $kind -q "${short[@]}" -x
        [[ $kind != sem* ]] || assert_equal "$(redis GETDEL x)" 2
        assert_no_keys
        redis FLUSHALL
        thaw one
    done
}

@test "a nested hold that is not acknowledged is given back; the enclosing one stays" {
    start run --replicas 1 -n x -- sh -c 'echo >in; $SECTION --until go
        rlock run -q -x --replicas 1 --replica-timeout 200ms -n x -- touch ran; echo $? >inner
        $SECTION --until let-go'
    wait_until 10 test -s in
    freeze one
    : >go
    wait_until 10 test -s inner
    assert_equal "$(cat inner)" 69
    assert_file_not_exist ran
    assert_equal "$(redis HVALS x)" 1
    thaw one
    : >let-go
    reaps 0 "$pid"
    assert_no_keys
}

@test "the replica is silent while it runs: dead before the lease's end, 76" {
    local end
    protected "${short[@]}" -l "$(ms 1500)"
    freeze one
    end=$(expiry x)
    assert_lost
    assert_dead_before "$end" 1200
}

@test "a latch is set, and counted down, once the replica has it, and only once" {
    local words waits expected
    may_bury # it is sent again
    while read -r words waits expected; do
        freeze one
        # shellcheck disable=SC2086
        start latch ${words//,/ } -n x "${short[@]}"
        wait_until 10 waits_done "$waits"
        thaw one
        reap "$pid" 5
        assert_equal "$words: $status $(redis_on one GET x)" "$words: 0 $expected"
    done <<'END'
set,--count,3 2 3
down 4 2
down,--by,2 7
END
    assert_no_keys
}

# Else a replica that becomes the master would have it held for a lease, a plain permit for ever.
@test "it is given back once the replica has that, too; one that stays silent costs a warning" {
    protected "${short[@]}"
    freeze one
    : >let-go
    wait_until 10 waits_done 3
    assert_no_keys # others need not wait
    thaw one
    reap "$holder" 5
    assert_equal "$status: $(cat err)" "5: "
    wait_until 5 eval '! stands_on one'
    rm let-go history
    protected "${short[@]}" --io-timeout "$(ms 1000)"
    freeze one
    : >let-go
    reap "$holder" 5
    assert_equal "$status" 5
    run cat err
    assert_output --partial 'cannot confirm'
    assert_output --partial replica
    assert_no_keys
}

@test "300 names: the replica is asked once when they are taken, and once when they are given back" {
    local -a names
    read -ra names <<<"$(printf ' -n x%d' {1..300})"
    rlock run --replicas 1 "${names[@]}" -- true
    assert_equal "$(calls wait)" 2
    freeze one
    lacks_replica 150 900 run -q -x --replicas 1 --replica-timeout "$(ms 200)" "${names[@]}"
    assert_no_keys
}

# The attempt is sent again, over another connection, on which WAIT knows nothing of the first: it
# says 1 at once, unless something was written.
@test "the grant's reply is lost and the replica silent: what WAIT says of nothing is no proof" {
    proxy_start
    freeze one
    proxy lose-reply evalsha 1
    lacks_replica 0 $((9000 * SLOW)) run -q "${short[@]}" -w "$(ms 1000)"
    assert_bitten lost-reply
    assert_no_keys
}
