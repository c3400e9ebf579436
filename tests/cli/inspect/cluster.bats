#!/usr/bin/env bats
# cluster.bats: status and doctor on a cluster: all nodes are searched, and each name asked for where it
# lives; each master is examined, and what they say of it.

load ../../lib/rlock
load ../../lib/cluster
load ../../lib/doctor
load ../../lib/status

tells() { # NODE TEXT: in its CLUSTER INFO
    [[ $(redis_on "$1" CLUSTER INFO) == *"$2"* ]]
}

@test "status: locks on all nodes are found, and looked at by name" {
    local names
    for names in '' 'a b c'; do
        # shellcheck disable=SC2086
        try run -n a -n b -n c -- rlock status --json $names
        assert_success
        seen=$output
        assert_seen '[(name, by[name]["state"]) for name in sorted(by)]' "[('a', 'held'), ('b', 'held'), ('c', 'held')]"
    done
}

@test "doctor: a good cluster, and one with a master that is not" {
    well n1 n2 n3
    assert_healthy
    assert_equal "$(grep -c '^ok *cluster *3 masters' <<<"$output")" 3
    assert_equal "$(grep -c '^ok *replicas *1, 1 must' <<<"$output")" 3
    assert_equal "$(grep -c 'lock cycle' <<<"$output")" 1
    assert_equal "$(grep ' rights ' <<<"$output" | sed 's/ .*//')" ok
    nothing_left
    redis_on n2 CONFIG SET maxmemory-policy volatile-lru maxmemory 1gb
    assert_finding eviction volatile-lru
    redis_on n2 CONFIG SET maxmemory-policy noeviction maxmemory 0
}

@test "doctor: slots that nobody has, and fewer than three masters" {
    local ports
    read -ra ports <<<"$(free_ports 4)"
    server_start small --bind 127.0.0.1 --port "${ports[0]}" --cluster-enabled yes --cluster-port "${ports[1]}"
    well small
    RLOCK_SERVER=cluster://127.0.0.1:${ports[0]}
    redis_on small CLUSTER ADDSLOTSRANGE 0 16380
    assert_findings cluster '3 of 16384 slots are served by no node' replicas 'no replica: .*nothing takes over'
    server_start other --bind 127.0.0.1 --port "${ports[2]}" --cluster-enabled yes --cluster-port "${ports[3]}"
    well other
    redis_on other CLUSTER ADDSLOTSRANGE 16381 16383
    redis_on other CLUSTER MEET 127.0.0.1 "${ports[0]}" "${ports[1]}"
    wait_until 10 tells small cluster_state:ok
    wait_until 10 tells other cluster_state:ok
    assert_findings cluster 'fewer than three masters, 2'
}

@test "doctor: slots that are down: a master and its replica are away" {
    well n1 n2 n3
    freeze n3 "$(replica_of n3)"
    wait_until 20 tells n1 cluster_slots_fail:5
    wait_until 20 tells n2 cluster_slots_fail:5
    assert_findings 'lock cycle' 'cannot take' -- \
        -s "$(cluster_url n1 n2)" --connect-timeout "$(ms 300)" --io-timeout "$(ms 300)"
    assert_equal "$(grep -cE '^finding +cluster .* state is fail, 5[0-9]+ slots are down' <<<"$output")" 2
    assert_equal "$(grep -c '^finding *reached' <<<"$output")" 1
}
