#!/usr/bin/env bats
# quorum.bats: status, wait, break, doctor and handles on independent servers: what each says of a name, what a majority says.

load ../../lib/rlock
load ../../lib/quorum
load ../../lib/status
load ../../lib/handles
load ../../lib/doctor

@test "status: each server's view is told apart, in JSON and in tables" {
    quorum m1 m2 m3
    foreign_on m2 m3
    see x
    assert_seen '[(l["name"], l["server"], l["state"]) for l in v]' \
        "[('x', '$(server_url m1)', 'free'), ('x', '$(server_url m2)', 'held'), ('x', '$(server_url m3)', 'held')]"
    try status
    assert_success
    assert_line --index 0 "$(server_url m2)"
    assert_equal "$(grep -c '^x  *run  *held' <<<"$output")" 2
}

@test "status -q: held is what a majority says; a server that hangs costs a second, one that is away is told; 69 when most are" {
    quorum m1 m2 m3
    foreign_on m2
    try status -q x x
    assert_equal "$status$output$stderr" 0
    foreign_on m3
    try status -q x
    assert_equal "$status$output$stderr" 75
    pause m1
    took 500 2500 "$RLOCK" status -q x y z # about a second in all, however many names
    assert_failure 75
    crash m1
    see x
    assert_stderr_has "look at x on $(server_url m1)"
    assert_seen 'len(v)' 2
    run -75 rlock status -q x
    crash m2
    run -69 --separate-stderr rlock status --json x
    seen=$output
    assert_seen '[l["server"] for l in v]' "['$(server_url m3)']"
}

@test "wait: until a majority says that it is free" {
    quorum m1 m2 m3
    foreign_on m1
    rlock wait -x x
    foreign_on m2
    run -75 rlock wait -x x
    crash m3
    run -75 rlock wait -x x
    crash m2
    run -69 rlock wait -x x
}

# breaks [OPTION...]: x is broken, and its holder says that it has stopped.
breaks() {
    try break --force "$@" x
    assert_success
    assert_stderr_has 'says that its command has stopped'
    assert_equal "$(grep -c 'broke x' <<<"$stderr")" 1
}

@test "break: on all of them; one that is away is no obstacle, nor the first if it hangs" {
    quorum m1 m2 m3
    holds first write -l "$(ms 900)"
    breaks
    nothing_left
    gone 76 first
    RLOCK_SERVER=$(urls m3 m2 m1) holds second run -l "$(ms 900)"
    crash m3
    breaks --connect-timeout "$(ms 300)"
    gone 76 second
    restart m3
    RLOCK_SERVER=$(urls m2 m1 m3)
    holds third run -l "$(ms 20000)"
    wait_until 10 listening 1 'rlock_break:*'
    pause m2
    breaks
    nothing_left
    gone 76 third
    crash m2 m3
    ends_saying 69 -- break --force --connect-timeout "$(ms 300)" x
}

@test "break: a holder that hears of it puts nothing back before its next renewal is due" {
    local member
    holds lost run -l 60s
    wait_until 10 listening 1 'rlock_break:*'
    for member in m1 m2 m3; do # as if the break took long
        rlock break --force -w 0 -s "$(server_url "$member")" x
    done
    gone 76 lost
    holds kept run -l "$(ms 3900)"
    wait_until 10 listening 1 'rlock_break:*'
    rlock break --force -w 0 -s "$(server_url m1)" x
    wait_until 10 held_on_all x
    finish kept
}

@test "break: on all at once, so that those that hang cost one wait" {
    holds a run -l 60s
    wait_until 10 listening 1 'rlock_break:*'
    pause m2 m3
    took 0 7200 "$RLOCK" break --force x # to find the holder each costs 2 s, to break it both do
    assert_success
    assert_stderr_has 'says that its command has stopped'
    gone 76 a
}

@test "doctor: each by itself; one that is away, or named twice, is a finding" {
    quorum m1 m2 m3
    well m1 m2 m3
    assert_healthy
    assert_equal "$(grep -c '^note *persistence' <<<"$output")" 3
    assert_equal "$(everywhere --scan)" ""
    redis_on m2 CONFIG SET maxmemory-policy allkeys-lru maxmemory 1gb
    assert_finding eviction allkeys-lru
    redis_on m2 CONFIG SET maxmemory-policy noeviction
    ln -s "$BATS_FILE_TMPDIR/m1/sock" other
    RLOCK_SERVER="$(urls m1 m2) unix://$PWD/other" assert_finding quorum 'number 3 is the same server as number 1 .*both'
    crash m2
    assert_finding reached 'No such file'
    crash m3
    ends_saying 69 '1 of 3' -- doctor
}

# --- handles -------------------------------------------------------------------------------------

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

@test "where a handle's renewal has put the hold back it has no command either: break waits for nobody" {
    local server
    acquire run -l 1m
    for server in m1 m2; do
        on "$server" -- FLUSHALL
        rlock renew "$handle"
    done
    took 0 5000 rlock break --force x
    assert_stderr_has 'it has no command'
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
    for verb in check:1 renew:76 release:76; do
        refuses 0 2000 "${verb#*:}" 'not ours any more: held by ' '(thief)' -- "${verb%:*}" "$lost"
    done
    refuses 0 2000 65 'another kind: an exclusive lock' '(thief)' -- read -x -n x -- true
}

@test "--while: kept on all of them, and given back on all" {
    helper sleep 60
    acquire run -l "$(ms 500)" --while $!
    rlock check "$handle"
    kill -KILL $!
    wait_until 5 none_marked "TEST_MARK=$TEST_MARK"
    nothing_left
}

@test "another kind: what most of them have, not what one still has of the kind that is asked for" {
    local member
    quorum m1 m2 m3
    foreign_on m1
    for member in m2 m3; do
        rlock latch set -s "$(server_url "$member")" -n x --count 3
    done
    refuses 0 5000 65 'another kind: a latch, 3 to go' -- run -x -n x -- true
    refuses 0 5000 65 'another kind: an exclusive lock (run)' -- read -x -n x -- true
    everywhere FLUSHALL
}
