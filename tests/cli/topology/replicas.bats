#!/usr/bin/env bats
# replicas.bats: --replicas: a hold, and each renewal, counts once so many replicas have it.

load ../../lib/rlock
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

# A client's WAIT goes on.
waiting_for_replica() {
    [[ $(redis INFO clients) == *blocked_clients:1* ]]
}

assert_no_replica() {
    assert_failure 69
    assert_message
    assert_stderr_has x "$RLOCK_SERVER" replica
    assert_file_not_exist ran
}

@test "the command starts when the replica has the hold" {
    local n
    for n in {1..5}; do
        try run --replicas 1 -n x -- redis-cli -s "$BATS_FILE_TMPDIR/one/sock" HVALS x
        assert_success
        assert_output 1
    done
    (($(calls wait) >= 5))
    assert_no_keys
}

# WAIT counts what its own connection has written.
@test "each WAIT goes over the connection that has written, for each renewal too" {
    monitor try run "${short[@]}" -l "$(ms 600)" -n x -- sleep "$((SLOW)).1"
    assert_success
    run awk -F '[][]' '
        /"EVAL/ { wrote[$2] = 1 }
        tolower($0) ~ /"wait" "1"/ { waits++; if (!wrote[$2]) print "without a write: " $0; wrote[$2] = 0 }
        END { print (waits >= 4) ? "enough" : waits " waits" }' monitor.txt
    assert_output enough
}

@test "a silent replica: waited for, others get in between the tries, and the command starts when it is back" {
    freeze one
    start run -q "${short[@]}" -n x -- "$SECTION" --log history
    wait_until 10 waits_done 2
    try run -q --replicas 0 -w "$(ms 5000)" -n x -- true
    assert_success
    assert_file_not_exist history
    thaw one
    reap "$pid" 5
    assert_equal "$status: $(cat err)" "0: "
    assert_file_exist history
    assert_no_keys
}

@test "a silent replica: 69 when the wait ends, or after one --replica-timeout; that it was that, and nothing is left" {
    freeze one
    took $((1000 * SLOW)) $((1000 * SLOW + 1200)) rlock run -q "${short[@]}" -w "$(ms 1000)" -n x -- touch ran
    assert_no_replica
    took $((700 * SLOW)) $((700 * SLOW + 600)) rlock run -q -x --replicas 1 --replica-timeout "$(ms 700)" -n x -- touch ran
    assert_no_replica
    assert_nothing_left main
    try latch set "${short[@]}" --connect-timeout "$(ms 300)" --io-timeout "$(ms 300)" -n l --count 1
    assert_failure 69
    assert_stderr_has replica
    redis FLUSHALL >/dev/null
    thaw one
    assert_equal "$(redis WAIT 1 2000)" 1
    assert_equal "$(redis_on one EXISTS x)" 0
}

@test "--replica-timeout may be longer than --io-timeout" {
    local begin
    freeze one
    begin=$(now_ms)
    start run -q --io-timeout "$(ms 200)" --replicas 1 --replica-timeout "$(ms 5000)" -n x -- "$SECTION" --log history
    wait_until 5 waiting_for_replica
    wait_until 5 is_later $((begin + 600 * SLOW))
    thaw one
    reap "$pid" 5
    assert_equal "$status: $(cat err)" "0: "
    assert_regex "$(cat history)" 'token=1 ' # the first try
}

@test "held by another is an answer, whatever the replica does: 75, at once" {
    foreign_hold x 60000
    freeze one
    took 0 900 rlock run -x --replicas 1 -n x -- touch ran
    assert_failure 75
    assert_file_not_exist ran
}

@test "no replica at all: 69" {
    server_start lone
    RLOCK_SERVER=$(server_url lone)
    took $((300 * SLOW)) $((300 * SLOW + 1700)) rlock run -q "${short[@]}" -w "$(ms 300)" -n x -- touch ran
    assert_no_replica
    assert_equal "$(redis_on lone EXISTS x)" 0
}

@test "--replicas 2: both of them" {
    replica_server two main
    try run --replicas 2 -n x -- touch both
    assert_success
    assert_file_exist both
    freeze two
    try run -q --replicas 2 --replica-timeout "$(ms 200)" -x -n x -- touch ran
    assert_no_replica
    try run --replicas 1 -n x -- true
    assert_success
    assert_no_keys
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
        try $kind -q "${short[@]}" -x -n x -- touch ran
        assert_equal "$kind: $status" "$kind: 69"
        assert_file_not_exist ran
        [[ $kind != sem* ]] || assert_equal "$(redis GETDEL x)" 2
        assert_no_keys
        redis FLUSHALL
        thaw one
    done
}

@test "a nested hold that is not acknowledged is given back; the enclosing one stays" {
    start run --replicas 1 -n x -- sh -c 'echo >in; until [ -e go ]; do sleep 0.01; done
        rlock run -q -x --replicas 1 --replica-timeout 200ms -n x -- touch ran; echo $? >inner
        until [ -e let-go ]; do sleep 0.01; done'
    wait_until 10 test -s in
    freeze one
    : >go
    wait_until 10 test -s inner
    assert_equal "$(cat inner)" 69
    assert_file_not_exist ran
    assert_equal "$(redis HVALS x)" 1
    thaw one
    : >let-go
    reap "$pid"
    assert_equal "$status" 0
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

@test "the replica is silent for a while: tried again, and the command goes on" {
    local before
    protected "${short[@]}" -l "$(ms 1800)"
    freeze one
    before=$(calls wait)
    wait_until 5 waits_done $((before + 1))
    thaw one
    assert_kept 2000
    assert_no_keys
}

@test "a latch is set, and counted down, once the replica has it, and only once" {
    may_bury # it is sent again
    freeze one
    start latch set "${short[@]}" -n x --count 3
    wait_until 10 waits_done 2
    thaw one
    reap "$pid" 5
    assert_equal "$status $(redis_on one GET x)" "0 3"
    freeze one
    start latch down "${short[@]}" -n x
    wait_until 10 waits_done 4
    thaw one
    reap "$pid" 5
    assert_equal "$status $(redis_on one GET x)" "0 2"
    freeze one
    start latch down "${short[@]}" -n x --by 2
    wait_until 10 waits_done 7 # it is open, and that has to get about as well
    thaw one
    reap "$pid" 5
    assert_equal "$status" 0
    assert_no_keys
}

@test "the lock is given back without asking the replica" {
    protected "${short[@]}"
    freeze one
    : >let-go
    reap "$holder" 1
    assert_equal "$status: $(cat err)" "5: "
    assert_equal "$(calls wait)" 1 # when it was taken
    assert_no_keys
}

# The attempt is sent again, over another connection, on which WAIT knows nothing of the first: it
# says 1 at once, unless something was written.
@test "the grant's reply is lost and the replica silent: what WAIT says of nothing is no proof" {
    proxy_start
    freeze one
    proxy lose-reply evalsha 1
    try run -q "${short[@]}" -w "$(ms 1000)" -n x -- touch ran
    assert_failure 69
    assert_bitten lost-reply
    assert_file_not_exist ran
    assert_no_keys
}

@test "a renewal's reply is lost and the replica silent: 76" {
    local end
    proxy_start
    protected "${short[@]}" -l "$(ms 1500)"
    freeze one
    proxy lose-reply "$(sha renew)" 1
    end=$(expiry x)
    assert_lost
    assert_bitten lost-reply
    assert_dead_before "$end" 1000
}

@test "WAIT's own reply is lost: asked again, one hold" {
    proxy_start
    proxy lose-reply 4321 1 # its time-out: no other request has it
    try run --replicas 1 --replica-timeout 4321ms -n x -- redis-cli -s "$BATS_FILE_TMPDIR/main/sock" HVALS x
    assert_success
    assert_output 1
    assert_bitten lost-reply
    assert_no_keys
}

