#!/usr/bin/env bats
# quorum_nested.bats: a nested hold has the owner and the token of the hold around it and changes neither, nor
# what any server knows of it, whichever servers come back, lose their data, or hang.

load ../../lib/rlock
load ../../lib/quorum

setup() {
    rlock_setup
    reset "${all[@]}"
    quorum m1 m2 m3
}

# outer KIND [OPTION...] -- WORD...: runs a script inside the lock, which gets KIND as $0.
outer() {
    local kind=$1 options=()
    shift
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    start "$kind" -n x "${options[@]}" -- sh -c "$2" "$kind"
    wait_until 10 test -e taken
}

inner='rlock "$0" -x -n x -- printenv RLOCK_OWNER RLOCK_TOKEN'

@test "a server that has given more tokens comes back while it is held: each inner one has the outer's" {
    local kind
    for kind in run read write; do
        rm -f taken go out
        redis_on m3 FLUSHALL >/dev/null
        redis_on m3 SET 'redisson_lock_token:{x}' 50 >/dev/null
        pause m3
        outer "$kind" -- 'printenv RLOCK_OWNER RLOCK_TOKEN; touch taken; until [ -e go ]; do sleep 0.02; done
            '"$inner; $inner"'; rlock check'
        resume m3
        redis_on m3 DEL x 'rlock_info:{x}' 'rlock_leases:{x}' >/dev/null
        : >go
        reap "$pid"
        assert_equal "$kind: $status" "$kind: 0"
        assert_equal "$(sort -u out | wc -l)" 2
        assert_equal "$(wc -l <out)" 6
        wait_until 3 nothing_left
        on m1 m2 -- FLUSHALL >/dev/null
    done
}

@test "a server loses its data: it gives a nested one nothing of its own, and gets the outer's owner from it" {
    local kind owners
    for kind in run read write; do
        rm -f taken go out
        outer "$kind" -l 1m -- 'printenv RLOCK_OWNER RLOCK_TOKEN; touch taken; until [ -e go ]; do sleep 0.02; done
            rlock "$0" -x -l '"$(ms 600)"' -n x -- sh -c "printenv RLOCK_OWNER RLOCK_TOKEN; touch in; until [ -e on ]; do sleep 0.02; done"
            '"$inner"'; rlock check'
        empty m2
        : >go
        wait_until 5 test -e in
        wait_until 5 held_on_all x # by the inner one's renewal
        owners=$(everywhere HKEYS 'rlock_info:{x}' | sort -u)
        assert_equal "$owners" "$(head -n 1 out)"
        : >on
        reap "$pid"
        assert_equal "$kind: $status" "$kind: 0"
        assert_equal "$(sort -u out | wc -l) $(wc -l <out)" "2 6"
        wait_until 3 nothing_left
        rm -f in on
    done
}

@test "all restart empty, one after the other, under a nested one: it goes on" {
    local kind member
    for kind in run write; do
        rm -f taken go out
        outer "$kind" -l "$(ms 2400)" -- 'touch taken
            rlock "$0" -x -l '"$(ms 2400)"' -n x -- sh -c "until [ -e go ]; do sleep 0.02; done"; exit 5'
        for member in m1 m2 m3 m1; do
            empty "$member"
            wait_until 5 twice_on "$member"
        done
        : >go
        reap "$pid"
        assert_equal "$kind: $status" "$kind: 5"
        rm go
        wait_until 3 nothing_left
    done
}

twice_on() { # MEMBER
    [[ $(redis_on "$1" HVALS x | grep -xc 2) == 1 ]]
}

@test "who has outlived the hold around it is a stranger: it waits its turn, and has an owner of its own" {
    local record owner
    rlock run -n x -- sh -c 'setsid sh -c "until [ -e go ]; do sleep 0.02; done
        rlock run -x -n x -- true; echo \$? >busy; until [ -e free ]; do sleep 0.02; done
        rlock run -n x -- printenv RLOCK_OWNER RLOCK_TOKEN >late; touch over" >/dev/null 2>&1 & printenv RLOCK_OWNER' >first
    holds a run
    : >go
    wait_until 5 test -s busy
    assert_equal "$(cat busy)" 75
    finish a
    : >free
    wait_until 5 test -e over
    assert_equal "$(sed -n 2p late)" 3
    [[ $(sed -n 1p late) != "$(cat first)" ]]
    nothing_left
}
