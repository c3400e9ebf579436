#!/usr/bin/env bats
# cluster_failover.bats: masters of a cluster are replaced, crash, hang or have no replica under those
# who hold locks and those who wait.

load ../../lib/rlock
load ../../lib/protected
load ../../lib/cluster

# crashed NODE: and its replica has taken its place.
crashed() {
    local replica
    wait_until 10 followed "$1" # after a failover
    replica=$(replica_of "$1")
    server_stop "$1"
    cluster await "$replica"
}

followed() { # NODE
    [[ -n $(replica_of "$1") ]]
}

@test "while it is held: a planned failover, then a crash: it goes on with the same hold, and others are kept out" {
    protected -l "$(ms 6000)"
    failover "$(home x)"
    kept_out run
    wait_until 4 renewed x
    crashed "$(home x)"
    kept_out run
    wait_until 4 renewed x
    kept_out run
    ends_well
    try run -n x -- printenv RLOCK_TOKEN
    assert_output 2
    nothing_left
}

@test "while it is waited for: a planned failover, then a crash: woken by the end, on the new master" {
    local node
    holds a run -l 30s
    brief b
    act b run
    node=$(home x)
    wait_until 5 waiting "$node" x 1
    failover "$node"
    wait_until 8 waiting_somewhere x # a replica, too, hears what is published on its shard
    crashed "$(home x)"
    wait_until 10 waiting "$(home x)" x 1
    finish a
    gone 0 b
    assert_gap a b 1000
    nothing_left
}

waiting_somewhere() { # NAME
    local node
    for node in "${nodes[@]}"; do
        ! waiting "$node" "$1" 1 || return 0
    done
    return 1
}

@test "the master and its replica hang for longer than the lease: dead before its end, and the next one enters after that" {
    local end node replica
    protected -l "$(ms 1200)"
    brief b
    node=$(home x)
    replica=$(replica_of "$node")
    act b run -w "$(ms 20000)" --io-timeout "$(ms 1000)"
    wait_until 5 waiting "$node" x 1
    end=$(expiry x "$node")
    freeze "$node" "$replica"
    assert_lost_within 2500
    # Renewed once more at most, before it hung.
    (($(beat beat) < end + 400000000 * SLOW)) || fail "alive $((($(beat beat) - end) / 1000000)) ms after"
    thaw "$node" "$replica"
    gone 0 b
    (($(beat beat) < $(stamp b enter))) || fail "two at once"
}

# --- the cluster is down -----------------------------------------------------------------------

@test "the cluster is down: tried again within the wait, then 69 that says so; taken when it comes up" {
    cluster_down
    took 700 3000 rlock run -w 800ms -n x -- touch ran
    assert_failure 69
    assert_message
    assert_stderr_has x 'cluster is down'
    took 0 3000 rlock run -x -n x -- touch ran
    assert_failure 69
    assert_file_not_exist ran
    brief a
    act a run -w "$(ms 15000)"
    wait_until 5 in_state "$pid" S
    cluster_up
    gone 0 a
    nothing_left
}

@test "it is down while a lock is held, for less than the lease: it goes on" {
    protected -l "$(ms 4000)" --kill-after 100ms
    cluster_down
    alive_for 300
    cluster_up
    wait_until 4 renewed x
    ends_well
    nothing_left
}

@test "down while a lock is held, and for longer: dead before the lease ends, 76" {
    local since
    protected -l "$(ms 1200)"
    cluster_down
    since=$(now_ns)
    assert_lost_within 2000
    (($(beat beat) < since + 1200000000 * SLOW)) || fail "alive $((($(beat beat) - since) / 1000000)) ms later"
    cluster_up
}

# --- the replica's word ------------------------------------------------------------------------

@test "the replica hangs: not acknowledged, so not held, but with --replicas 0; taken when it wakes within the wait" {
    local replica
    rlock run -n x -- true
    replica=$(replica_of "$(home x)")
    freeze "$replica"
    took 0 3000 rlock run -x --replica-timeout 300ms -n x -- touch ran
    assert_failure 69
    assert_message
    assert_regex "$stderr" 'replica'
    assert_file_not_exist ran
    nothing_left
    try run -x --replicas 0 -n x -- true
    assert_success
    brief a
    act a run --replicas 1 --replica-timeout 200ms -w "$(ms 10000)"
    wait_until 5 acquired_once
    refute_entered a
    thaw "$replica"
    gone 0 a
    nothing_left
}

acquired_once() { # after the three above
    (($(at x GET 'redisson_lock_token:{x}') >= 4))
}

@test "it hangs while held: renewals do not count, 76 before the lease ends; --replicas 0 goes on" {
    local replica end
    protected -l "$(ms 1500)" --replicas 1
    log=free start run -l "$(ms 1500)" --replicas 0 -n "{x}other" -- "$SECTION" --log other --beat other-beat --until let-go --exit 5
    wait_until 5 test -s other
    replica=$(replica_of "$(home x)")
    end=$(expiry x "$(home x)")
    freeze "$replica"
    assert_lost_within 2500
    (($(beat beat) < end + 750000000 * SLOW)) || fail "alive $((($(beat beat) - end) / 1000000)) ms after"
    : >let-go
    reap "$pid"
    assert_equal "$status" 5
    thaw "$replica"
}

# A failover leaves it so until the old master is back.
@test "there is none when it is taken; once there is one, its word counts" {
    local master replica
    master=$(home x)
    replica=$(replica_of "$master")
    server_stop "$replica"
    wait_until 10 alone "$master" "$replica"
    protected -l "$(ms 3000)"
    node_start "$replica"
    wait_until 20 known_to_all "$replica"
    rm -f end-of-x
    wait_until 4 renewed x
    wait_until 4 renewed x
    freeze "$replica"
    wait_until 10 grep -qE 'cannot renew x .*: (the replicas did not acknowledge|0 of 1 replicas acknowledged) it' err
    thaw "$replica"
    ends_well
}

# alone MASTER REPLICA: nobody is said to replace it.
alone() {
    ! redis_on "$1" CLUSTER SLOTS | grep -qx "$(port_of "$2")"
}

known_to_all() { # REPLICA
    local node
    for node in "${nodes[@]}"; do
        ! alone "$node" "$1" || return 1
    done
}

@test "a planned failover to and fro under five that want it: no two overlap, tokens grow" {
    local n
    contenders 5
    for n in 1 2; do
        wait_until 10 sections_more 5
        failover "$(home x)"
    done
    wait_until 10 sections_more 5
    end_contest
}
