#!/usr/bin/env bats
# cluster.bats: the same in a cluster, where messages go by shard channels (SPUBLISH).

load ../lib/rlock
load ../lib/ports
load ../lib/actors
load ../lib/cluster
load interop

setup_file() {
    build_section
    rlock_setup_file
    cluster_start
    java_start j
    java_start k watchdog="$DYING_MS"
}

teardown_file() {
    local node
    java_stop
    for node in "${nodes[@]}" main; do
        server_stop "$node"
    done
}

setup() {
    local node
    interop_setup
    cluster ready
    RLOCK_SERVER=$(cluster_url "${nodes[@]}")
}

teardown() {
    java_forget
    rlock_teardown
}

java_servers() {
    local node list=
    for node in n1 n2 n3; do
        list+=,redis://127.0.0.1:$(port_of "$node")
    done
    echo "cluster=${list#,}"
}

# Of a name's channels those of its node; it does not move.
channels() { # NAME
    [[ -s home-$1 ]] || home "$1" >"home-$1"
    redis_on "$(<"home-$1")" PUBSUB SHARDCHANNELS "*{$1}*"
}

no_other_channels() {
    local node
    for node in "${nodes[@]}"; do
        [[ -z $(redis_on "$node" PUBSUB CHANNELS '*{*}*') ]] || return 1
    done
}

@test "either keeps the other out, wherever the name lives" {
    local name kind
    for name in alpha beta gamma delta; do
        for kind in fenced write; do
            enters "j-$name-$kind" "$kind" "$name-$kind"
            shut_out "a-$name" "$kind" "$name-$kind"
            leaves "j-$name-$kind"
            enters "a-$name-$kind" "$kind" "$name-$kind"
            shut_out "j" "$kind" "$name-$kind"
            leaves "a-$name-$kind"
        done
    done
    nothing_left
}

@test "who waits is woken by a message of the shard, in both directions" {
    local kind
    assert_answer true j0 set sem sem permits=1
    for kind in lock fair write sem permits; do
        handovers "$kind" "$kind" a j1 b j2
        rm history end-*
    done
    no_other_channels
}

@test "a latch that one side sets and waits for is opened by the other" {
    local began
    rlock latch set -n latch --count 1
    tell j1 take latch latch
    wait_until 10 awaited latch
    began=$(now_ns)
    rlock latch down -n latch
    wait_until 2 entered_section j1
    assert_answer true j0 set latch latch count=1
    log=a start latch wait -n latch
    wait_until 10 awaited latch
    assert_answer true j0 down latch latch
    reap "$pid" 2
    assert_equal "$status" 0
}

@test "a killed service's lock is free when its lease is over" {
    local end
    enters k1 fenced x
    awaits a fenced x
    end=$(at x PEXPIRETIME x)
    java_kill k
    enters_at "$end" a
    leaves a
    (($(told a token) > $(told k1 token)))
}
