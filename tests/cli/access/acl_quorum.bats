#!/usr/bin/env bats
# acl_quorum.bats: the rights that rlock-server(7) gives for a lock on several servers.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/replicas
load ../../lib/rights

three=(m1 m2 m3)

# Tokens that differ: a majority must accept the largest.
setup() {
    local member
    rlock_setup
    RLOCK_SERVER=
    for member in "${three[@]}"; do
        port_server "$member"
        redis_on "$member" SET 'redisson_lock_token:{x}' "${member#m}0"
        RLOCK_SERVER+=" redis://app:secret@127.0.0.1:$(port_of "$member")"
    done
}

allow() { # KIND WITHOUT
    local member
    for member in "${three[@]}"; do
        give "$member" app "$2" "$1" 'several servers'
    done
}

@test "run, read, write: a kind's rules and those for several servers are enough" {
    local kind
    for kind in run read write; do
        allow "$kind" ''
        holds "first-$kind" "$kind" -l "$(ms 900)"
        act "second-$kind" "$kind" -q
        [[ $kind == read ]] || wait_until 5 eval '[[ -n $(redis_on m1 PUBSUB CHANNELS) && -n $(redis_on m2 PUBSUB CHANNELS) ]]'
        finish "first-$kind" "second-$kind"
        assert_equal "$(cat "first-$kind.err" "second-$kind.err")" ""
        run -0 rlock "$kind" -n x -- rlock "$kind" -x -n x -- echo inside
        assert_output inside
    done
}

@test "77: without the rights for several servers nothing is held" {
    local without member
    for without in $(rules 'several servers'); do
        allow run "$without"
        ends_saying 77 -- run -n x -w 5s -- touch ran
        for member in "${three[@]}"; do
            assert_equal "without $without: $(redis_on "$member" --scan)" "without $without: redisson_lock_token:{x}"
        done
    done
}
