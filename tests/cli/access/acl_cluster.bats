#!/usr/bin/env bats
# acl_cluster.bats: the rights that rlock-server(7) gives for a cluster.

load ../../lib/rlock
load ../../lib/cluster
load ../../lib/rights

# allow WITHOUT KIND...: the user app may do on each node what these and the cluster need. What is said on
# sharded channels needs no right to the others.
allow() {
    local node without=$1
    shift
    for node in "${nodes[@]}"; do
        give "$node" app "$without" "$@" cluster://
        redis_on "$node" ACL SETUSER app -publish -subscribe -unsubscribe >/dev/null
    done
    RLOCK_SERVER=$(cluster_url "${nodes[@]}" | sed 's,://,&app:secret@,')
}

listening() {
    [[ -n $(at x PUBSUB SHARDCHANNELS) ]]
}

@test "each kind: its rules and those for a cluster are enough" {
    local kind
    for kind in run fair read write; do
        allow '' "$kind"
        holds "first-$kind" "$kind" -l "$(ms 900)"
        act "second-$kind" "$kind" -q
        [[ $kind == read ]] || wait_until 5 listening
        finish "first-$kind" "second-$kind"
        assert_equal "$(cat "first-$kind.err" "second-$kind.err")" ""
    done
    nothing_left
    allow '' sem
    rlock sem -n x --permits 2 -- true
    at x DEL x # other scripts of theirs: lua/rights.bats
}

@test "77: without the nodes' slots, WAIT, the ear for sharded channels, or ASKING while a slot moves; nothing is held" {
    local without
    for without in '+cluster|slots' +wait; do
        allow "$without" run
        ends_saying 77 -- run -n x -- touch ran
        [[ $without != +wait ]] || assert_stderr_has wait '--replicas 0'
        nothing_left
    done
    allow +ssubscribe run
    at x HSET x "$foreign_owner" 1
    run -77 rlock run -n x -w 10s -- touch ran
    at x FLUSHALL # with a key that stays behind it would be TRYAGAIN
    allow +asking run
    migrate_begin x "$(other_master x)"
    run -77 rlock run -n x -w 5s -- touch ran
    assert_file_not_exist ran
    migrate_keys
    migrate_end
    allow '' run
    rlock run -n x -- true
}

@test "without SPUBLISH and SUNSUBSCRIBE who waits comes by in time" {
    local node
    allow +spublish run
    for node in "${nodes[@]}"; do
        redis_on "$node" ACL SETUSER app -sunsubscribe
    done
    holds first run
    act second run -q
    wait_until 5 listening
    finish first second
    assert_gap first second 6000
    nothing_left
}
