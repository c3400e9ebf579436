#!/usr/bin/env bats
# doctor_cluster.bats: rlock doctor on a cluster: each master is examined.

load ../lib/rlock
load ../lib/actors
load ../lib/ports
load ../lib/cluster
load ../lib/doctor

@test "a good cluster, one whose slots are not all served, and one that fails" {
    well n1 n2 n3
    assert_healthy
    assert_equal "$(grep -c '^ok *cluster *3 masters' <<<"$output")" 3
    assert_equal "$(grep -c '^ok *replicas *1, 1 must' <<<"$output")" 3
    assert_equal "$(grep -c 'lock cycle' <<<"$output")" 1
    nothing_left
    redis_on n2 CONFIG SET maxmemory-policy volatile-lru maxmemory 1gb
    assert_finding eviction volatile-lru
    redis_on n2 CONFIG SET maxmemory-policy noeviction maxmemory 0
}
