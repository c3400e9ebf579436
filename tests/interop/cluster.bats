#!/usr/bin/env bats
# cluster.bats: the same in a cluster of several nodes, each of which has some of the names and their shard
# channels. What the other files test in a cluster (INTEROP_ON) is one of a single node.

load ../lib/rlock
load ../lib/cluster
load interop

shared=("${nodes[@]}" main)

setup_file() {
    rlock_setup_file
    cluster_start
    java_start j
}

setup() {
    interop_setup
    cluster ready
    RLOCK_SERVER=$(cluster_url "${nodes[@]}")
}

java_servers() {
    echo "cluster=$(redis_urls "$(port_of n1)" "$(port_of n2)" "$(port_of n3)")"
}

home_of() { # NAME: its node; it does not move
    [[ -s home-$1 ]] || home "$1" >"home-$1"
    cat "home-$1"
}

@test "either keeps the other out, wherever the name lives" {
    local name kind
    for name in alpha beta gamma delta; do
        for kind in fenced write; do
            excludes "$kind" "$name-$kind" "$kind"
        done
        rm history end-*
    done
    nothing_left
}

@test "who waits is woken by a message of the shard, in both directions" {
    local kind node
    assert_answer true j0 set sem sem permits=1
    for kind in lock fair write sem permits; do
        handovers "$kind" "$kind" a j1 b j2
        rm history end-*
    done
    for node in "${nodes[@]}"; do
        assert_equal "$(redis_on "$node" PUBSUB CHANNELS '*{*}*')" ''
    done
}
