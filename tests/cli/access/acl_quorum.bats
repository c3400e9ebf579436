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

# endless_on MEMBER: the keys there that never expire, but tokens.
endless_on() {
    local key
    for key in $(redis_on "$1" --scan | grep -v redisson_lock_token); do
        (($(redis_on "$1" PTTL "$key") != -1)) || echo "$key"
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

# The next holder but one would wait for it for ever.
@test "a server that lost a hold, and takes rights away: nothing of the hold is put there without an end" {
    local kind without
    needs_server 7.0.0 'a way to ask for rights'
    for kind in run write; do
        for without in -zadd -pexpire; do
            allow "$kind" ''
            rm -f end-a
            holds a "$kind" -l "$(ms 900)"
            redis_on m1 ACL SETUSER app "$without"
            redis_on m1 FLUSHALL
            redis_on m1 CONFIG RESETSTAT
            wait_until 5 eval '(($(calls evalsha m1) > 4))' # it is asked to renew, and to put it back, twice
            signal KILL a
            gone 137 a
            assert_equal "$kind $without: $(endless_on m1)" "$kind $without: "
            allow "$kind" ''
            wait_until 5 eval '[[ $(redis_on m2 EXISTS x)$(redis_on m3 EXISTS x) == 00 ]]'
        done
    done
}
