#!/usr/bin/env bats
# cluster_failover.bats: masters of a cluster are replaced, crash, hang or have no replica under those
# who hold locks and those who wait.

load ../../lib/rlock
load ../../lib/protected
load ../../lib/cluster

@test "a planned failover, then a crash: who holds goes on with the same hold, who waits is woken by its end" {
    local end node replica
    protected -l "$(ms 6000)"
    brief b
    act b run
    wait_until 5 waiting "$(home x)" x 1
    cluster failover "$(home x)"
    kept_out run
    wait_until 4 renewed x
    wait_until 8 waiting_somewhere # a replica, too, hears what is published on its shard
    node=$(home x)
    wait_until 10 eval 'replica_of "$node" | grep .' # after the failover
    replica=$(replica_of "$node")
    server_stop "$node"
    cluster await "$replica"
    kept_out run
    wait_until 4 renewed x
    wait_until 10 waiting "$(home x)" x 1
    end=$(now_ns)
    ends_well
    gone 0 b
    (($(stamp b enter) - end < 1000000000 * SLOW)) || fail "$((($(stamp b enter) - end) / 1000000)) ms"
    assert_equal "$(told b token)" 2
    nothing_left
}

waiting_somewhere() {
    local node
    for node in "${nodes[@]}"; do
        ! waiting "$node" x 1 || return 0
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

@test "the cluster is down for less than the lease: a hold goes on; at the door 69 that says so, or taken when it comes up" {
    protected -l "$(ms 9000)" --kill-after 100ms
    cluster uncover
    down=1
    refuses 700 3000 69 y 'cluster is down' -- run -q -w 800ms -n y -- touch ran
    refuses 0 3000 69 y -- run -x -n y -- touch ran
    brief a
    act_on y a run -w "$(ms 15000)"
    wait_until 5 in_state "$pid" S
    cluster cover
    down=
    gone 0 a
    wait_until 9 renewed x
    ends_well
    nothing_left
}

# --- the replica's word ------------------------------------------------------------------------

@test "the replica hangs: not acknowledged, so not held, but with --replicas 0" {
    local replica
    rlock run -n x -- true
    replica=$(replica_of "$(home x)")
    freeze "$replica"
    refuses 0 3000 69 replica -- run -x --replica-timeout 300ms -n x -- touch ran
    nothing_left
    rlock run -x --replicas 0 -n x -- true
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
    wait_until 5 grep -q 'renewed x .* again after' err
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

# The last one: what it does to the cluster is not undone. Redis goes on to list the replica, without an address.
@test "the replica was reset, and has another id: the master counts as one without a replica" {
    local node replica
    node=$(home x)
    wait_until 10 eval 'replica_of "$node" | grep .'
    replica=$(replica_of "$node")
    redis_on "$replica" CLUSTER RESET HARD
    wait_until 30 eval '! redis_on "$node" CLUSTER SLOTS | grep -qx "$(port_of "$replica")"'
    rlock run -n x -w 5s -- true
    server_stop "$replica"
}
