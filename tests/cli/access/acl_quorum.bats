#!/usr/bin/env bats
# acl_quorum.bats: the rights that rlock-server(7) gives for a lock on several servers.

load ../../lib/rlock
load ../../lib/quorum
load ../../lib/rights

redis_on() {
    local dir=$BATS_FILE_TMPDIR/$1 as=()
    [[ $1 == main ]] || as=(--no-auth-warning --user admin --pass admin)
    shift
    timeout 10 redis-cli -s "$dir/sock" "${as[@]}" "$@"
}

three=(m1 m2 m3)

# Tokens that differ: a majority must accept the largest.
setup() {
    local member
    rlock_setup
    quorum "${three[@]}"
    for member in "${three[@]}"; do
        redis-cli -s "$BATS_FILE_TMPDIR/$member/sock" ACL SETUSER admin on '>admin' '~*' '&*' +@all
        redis_on "$member" FLUSHALL
        redis_on "$member" SET 'redisson_lock_token:{x}' "${member#m}0"
    done
}

teardown() {
    local member
    for member in "${three[@]}"; do
        redis_on "$member" ACL SETUSER default reset on nopass '~*' '&*' +@all
    done
    rlock_teardown && quiet "${three[@]}"
}

allow() { # KIND WITHOUT
    local member
    for member in "${three[@]}"; do
        give "$member" default "$2" "$1" 'several servers'
    done
}

@test "run, read, write: a kind's rules and those for several servers are enough" {
    local kind
    for kind in run read write; do
        allow "$kind" ''
        holds "first-$kind" "$kind" -l "$(ms 900)"
        act "second-$kind" "$kind" -q
        [[ $kind == read ]] || wait_until 5 heard_of
        finish "first-$kind" "second-$kind"
        assert_equal "$(cat "first-$kind.err" "second-$kind.err")" ""
        run -0 rlock "$kind" -n x -- rlock "$kind" -x -n x -- echo inside
        assert_output inside
    done
}

heard_of() {
    [[ -n $(redis_on m1 PUBSUB CHANNELS) && -n $(redis_on m2 PUBSUB CHANNELS) ]]
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

@test "77 when a majority refuses, not when one does" {
    allow run ''
    give m2 default +incr run
    rlock run -n x -- true
    give m3 default +incr run
    run -77 rlock run -n x -- touch ran
    assert_file_not_exist ran
}
