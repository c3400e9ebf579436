#!/usr/bin/env bats
# quorum_nested.bats: a nested hold has the owner and the token of the hold around it and changes neither, nor
# what any server knows of it, whichever servers come back, lose their data, or hang.

load ../../lib/rlock
load ../../lib/quorum

# outer KIND SCRIPT [OPTION...]: runs it inside the lock, with KIND as its $0; returns when it is taken.
outer() {
    rm -f taken go out
    start "$1" -n x "${@:3}" -- sh -c "$2" "$1"
    wait_until 10 test -e taken
}

# ends_as_one KIND: there was one owner and one token, told three times.
ends_as_one() {
    reap "$pid"
    assert_equal "$1: $status" "$1: 0"
    assert_equal "$(sort -u out | wc -l) $(wc -l <out)" "2 6"
    wait_until 3 nothing_left
}

inner='rlock "$0" -x -n x -- printenv RLOCK_OWNER RLOCK_TOKEN'

@test "a server that has given more tokens comes back while it is held: each inner one has the outer's" {
    local kind
    quorum m1 m2 m3
    for kind in run read write; do
        empty m3
        redis_on m3 SET 'redisson_lock_token:{x}' 50 >/dev/null
        pause m3
        outer "$kind" 'printenv RLOCK_OWNER RLOCK_TOKEN; touch taken; $SECTION --until go
            '"$inner; $inner"'; rlock check'
        resume m3
        redis_on m3 DEL x 'rlock_info:{x}' 'rlock_leases:{x}' >/dev/null
        : >go
        ends_as_one "$kind"
        empty m1 m2
    done
}

@test "a server loses its data: it gives a nested one nothing of its own, and gets the outer's owner from it" {
    local kind
    quorum m1 m2 m3
    for kind in run read write; do
        rm -f in on
        outer "$kind" 'printenv RLOCK_OWNER RLOCK_TOKEN; touch taken; $SECTION --until go
            rlock "$0" -x -l '"$(ms 600)"' -n x -- sh -c "printenv RLOCK_OWNER RLOCK_TOKEN; touch in; $SECTION --until on"
            '"$inner"'; rlock check' -l 1m
        empty m2
        : >go
        wait_until 5 test -e in
        wait_until 5 held_on_all x # by the inner one's renewal
        assert_equal "$(everywhere HKEYS 'rlock_info:{x}' | sort -u)" "$(head -n 1 out)"
        : >on
        ends_as_one "$kind"
    done
}

@test "all lose their data, one after the other, under a nested one: it goes on" {
    local kind member
    quorum m1 m2 m3
    for kind in run write; do
        outer "$kind" 'touch taken
            rlock "$0" -x -l '"$(ms 2400)"' -n x -- sh -c "$SECTION --until go"; exit 5' -l "$(ms 2400)"
        for member in m1 m2 m3 m1; do
            empty "$member"
            wait_until 5 eval '[[ $(redis_on "$member" HVALS x | grep -xc 2) == 1 ]]'
        done
        : >go
        reap "$pid"
        assert_equal "$kind: $status" "$kind: 5"
        wait_until 3 nothing_left
    done
}

# One of those that answer is behind with its tokens; one of the others loses its data.
@test "one server has given fewer tokens, another loses its data: the inner one has the outer's at once, renewed or not" {
    local kind
    quorum m1 m2 m3
    for kind in 'run --no-renew' read write; do
        empty m1 m2 m3
        on m1 m2 -- SET 'redisson_lock_token:{x}' 50 >/dev/null
        # shellcheck disable=SC2086 # a kind, and an option
        set -- $kind
        outer "$1" 'printenv RLOCK_OWNER RLOCK_TOKEN; touch taken; $SECTION --until go
            '"$inner; $inner"'; rlock check' -l 1m "${@:2}"
        wait_until 3 eval '[[ $(on m1 m2 m3 -- GET "redisson_lock_token:{x}" | sort -u) == 51 ]]'
        empty m2
        : >go
        ends_as_one "$1"
    done
}

# The hold around it is there, whatever its token: it waits until a majority has it again.
@test "one server has it by another token, another has lost it: the inner one waits for the renewal, and is no stranger" {
    local kind owner
    quorum m1 m2 m3
    for kind in run read write; do
        outer "$kind" 'printenv RLOCK_OWNER RLOCK_TOKEN; touch taken; $SECTION --until go
            rlock "$0" -w 20s -n x -- printenv RLOCK_OWNER RLOCK_TOKEN; '"$inner" -l 6s
        wait_until 3 held_on_all x
        owner=$(head -n 1 out)
        redis_on m3 HSET 'rlock_info:{x}' "$owner" '{"token":777,"host":"elsewhere"}' >/dev/null
        empty m2
        : >go
        ends_as_one "$kind"
        empty m1 m2 m3
    done
}

@test "who has outlived the hold around it is a stranger: it waits its turn, and has an owner of its own" {
    quorum m1 m2 m3
    rlock run -n x -- sh -c 'setsid sh -c "$SECTION --until go
        rlock run -x -n x -- true; echo \$? >busy; $SECTION --until free
        rlock run -n x -- printenv RLOCK_OWNER RLOCK_TOKEN >late; touch over" >/dev/null 2>&1 & printenv RLOCK_OWNER' >first
    holds a run
    : >go
    wait_until 5 test -s busy
    assert_equal "$(cat busy)" 75
    finish a
    : >free
    wait_until 5 test -e over
    assert_equal "$(sed -n 2p late)" 3
    assert_not_equal "$(sed -n 1p late)" "$(cat first)"
    nothing_left
}
