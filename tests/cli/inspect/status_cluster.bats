#!/usr/bin/env bats
# status_cluster.bats: all nodes of a cluster are searched, and each name asked for where it lives.

load ../../lib/rlock
load ../../lib/cluster
load ../../lib/status

@test "cluster: locks on all nodes are found, and looked at by name" {
    local name
    for name in a b c d e f; do
        rlock latch set -n "latch-$name" --count 1
    done
    see
    assert_seen 'len(v), {l["count"] for l in v}' "(6, {1})"
    see latch-a latch-b latch-c
    assert_seen '[l["state"] for l in v]' "['held', 'held', 'held']"
    for name in a b c d e f; do
        rlock latch down -n "latch-$name"
    done
}
