#!/usr/bin/env bats
# cluster.bats: locks in a Redis Cluster: every kind, whatever slot, found from whatever node. Those that are waited
# for are in cluster_wait.bats.

load ../../lib/rlock
load ../../lib/cluster
load ../../lib/races
load ../../lib/status

@test "sem, plain or not, --once-per and --preempt, on each master" {
    local name
    for name in $(cluster names); do
        rm -f history
        try sem -n "$name" --permits 2 --take 2 -- rlock sem -x -n "$name" -- true
        assert_failure 75
        assert_equal "$(at "$name" GET "$name")" 2
        rlock sem -n "$name" --resize 5
        at "$name" SET "plain{$name}" 1
        try sem -n "plain{$name}" --plain -- sh -c 'exit 3'
        assert_failure 3
        at "$name" DEL "$name" "plain{$name}"
        rlock run --once-per 1h -n "$name" -- true
        try fair --once-per 1h -n "$name" -- touch ran
        assert_stderr_has "not running $name: "
        assert_equal "$(at "$name" DEL "rlock_last:{$name}")" 1
        holds_on "$name" a fair --preemptible
        rlock run -q --preempt -n "$name" -- true
        gone 79 a
    done
    assert_file_not_exist ran
    nothing_left
}

@test "a name with braces lives where its tag does; without a tag it can have no lock in a cluster: 64, in plain words" {
    local kind name
    for name in 'a{x}b' '{x}b' '{x}{y}' 'a{x}b}c'; do
        for kind in run fair read write; do
            try "$kind" -n "$name" -- sh -c 'exit 5'
            assert_equal "$kind $name: $status" "$kind $name: 5"
        done
        assert_equal "$(at x GET "redisson_lock_token:$name")" 4
        holds_on "$name" h run
        try run -w 100ms -n "$name" -- true
        assert_failure 75
        finish h
        rm -f history end-h
    done
    nothing_left
    for name in 'a{b' '{}a' '{'; do
        refuses 0 2000 64 "$name" brace -- run -x -n "$name" -- touch ran
    done
}

@test "user and password in the address are all nodes'; neither is shown" {
    local node name url
    for node in "${nodes[@]}"; do
        redis_on "$node" ACL SETUSER alice on '>sesame' allkeys allchannels +@all
    done
    url=cluster://alice:sesame@${RLOCK_SERVER#cluster://}
    for name in $(cluster names); do
        try run -v -s "$url" -n "$name" -- sh -c 'printenv RLOCK_SERVER; rlock run -x -n "$RLOCK_NAME" -- true'
        assert_output "cluster://alice@${RLOCK_SERVER#cluster://}"
        refute_regex "$stderr" sesame
    done
    ends_saying 77 x -- run -s "${url/sesame/wrong}" -n x -- touch ran
    refute_regex "$stderr" wrong
}

@test "keepers and a client's other locks share nothing unguarded" {
    assert_no_races "$(cluster_url n1)" n1 n2 n3
}

@test "a master and its replica are silent: status shows the locks of the others, and 69 names the one that is not seen" {
    local name node replica others
    others=$(cluster names)
    for name in $others; do holds_on "$name" "$name" run; done
    for node in "${nodes[@]}"; do redis_on "$node" CONFIG SET cluster-require-full-coverage no; done
    node=$(home "$name")
    replica=$(replica_of "$node")
    freeze "$node" "$replica"
    took 500 5000 rlock status --json --connect-timeout 500ms --io-timeout 500ms
    assert_failure 69
    seen=$output
    assert_equal "$(value '" ".join(sorted(by))')" "$(tr ' ' '\n' <<<"$others" | grep -vx "$name" | sort | paste -sd ' ')"
    assert_stderr_has ":$(port_of "$node")"
    thaw "$node" "$replica"
    for name in $others; do finish "$name"; done
}
