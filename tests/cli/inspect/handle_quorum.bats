#!/usr/bin/env bats
# handle_quorum.bats: a handle of a lock on a majority of independent servers.

load ../../lib/rlock
load ../../lib/quorum
load ../../lib/handles

@test "taken on all of them, renewed, looked for and given back on all" {
    local kind
    for kind in run read write; do
        acquire "$kind" -l 1m
        rlock check "$handle"
        rlock renew "$handle" -l 1h
        rlock check --min-ttl 50m "$handle"
        rlock release "$handle"
        nothing_left
        ends_saying 1 "nobody has taken it since" -- check "$handle"
    done
}

@test "the handle knows its servers; a majority that answers is enough, and one that has lost it is too many" {
    quorum m1 m2 m3
    acquire run -l 1m
    (unset RLOCK_SERVER; rlock check "$handle")
    ends_saying 64 HANDLE "another number of servers" -- release -s "$(server_url m1)" "$handle"
    on m1 -- FLUSHALL
    rlock check "$handle"
    rlock renew "$handle"
    on m1 m2 -- FLUSHALL
    ends_saying 1 "x is not ours any more" -- check "$handle"
    assert_lost -- release "$handle"
    nothing_left
}

@test "what one of them still has of a lost hold is not the present holder" {
    local kind lost
    quorum m1 m2 m3
    for kind in run read; do
        acquire "$kind" -l 1m
        lost=$handle
        on m2 m3 -- FLUSHALL
        assert_lost 'it was given back, or its lease ended' -- renew "$lost"
        acquire "${kind/read/write}" -l 1m --note thief
        assert_lost 'held by ' '(thief)' -- renew "$lost"
        assert_lost 'held by ' '(thief)' -- release "$lost"
        rlock release "$handle"
        nothing_left
    done
}

@test "one of them hangs: the others say soon who has it now, or what it is" {
    local lost kind verb
    quorum m1 m2 m3
    acquire run -l 1m
    lost=$handle
    everywhere FLUSHALL
    acquire run -l 1m --note thief
    pause m1
    for verb in check renew release; do
        took 0 2000 rlock "$verb" "$lost"
        assert_stderr_has 'not ours any more: held by ' '(thief)'
    done
    took 0 2000 rlock read -x -n x -- true
    assert_failure 65
    assert_stderr_has 'another kind: an exclusive lock' '(thief)'
}

@test "--while: kept on all of them, and given back on all" {
    helper sleep 60
    acquire run -l "$(ms 500)" --while $!
    rlock check "$handle"
    kill -KILL $!
    wait_until 5 none_marked "TEST_MARK=$TEST_MARK"
    nothing_left
}
