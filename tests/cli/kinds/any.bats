#!/usr/bin/env bats
# any.bats: --any K takes any K of several names: a pool.

load ../../lib/rlock
load ../../lib/status

# pool NAME...: a background rlock of any one of them, which notes the one that it has in the file got, and keeps it
# until the file end is there; returns when it waits in each line, alone.
pool() {
    local name options=()
    for name; do options+=(-n "$name"); done
    log=pool start run --any 1 "${options[@]}" -- sh -c 'echo $RLOCK_NAME >got; $SECTION --until end'
    pool=$pid
    for name; do wait_until 5 in_line "$name" 1; done
}

# taken NAME...: it has these.
taken() {
    wait_until 5 test -s got
    assert_equal "$(cat got)" "$*"
}

# ended_well PID...: each with 0, and nothing is left.
ended_well() {
    for pid; do
        reaps 0 "$pid"
    done
    assert_no_keys
}

# which STATUS OPTION...: rlock run OPTION... ends so; its command prints which names it has, in one line.
which() {
    try run "${@:2}" -- sh -c 'echo $RLOCK_NAME'
    assert_equal "$status" "$1"
}

@test "the first K of the names that are free are taken, in the order of preference, each with its own token" {
    which 0 --any 1 -n c -n a -n b
    assert_output c
    which 0 --any 2 -n c -n b -n a
    assert_output 'b c' # RLOCK_NAME has them in canonical order
    hold c
    which 0 --any 1 -n c -n b -n a
    assert_output b
    which 0 --any 2 -n c -n b -n a
    assert_output 'a b'
    try run --any 1 -n c -n b -- sh -c 'echo $RLOCK_TOKEN'
    assert_output "$(redis GET 'redisson_lock_token:{b}')"
    let_go c
    reap "$holder"
    assert_no_keys
}

@test "all of K names are the lock of them all, and a name that is given twice counts once" {
    which 0 --any 2 -n b -n a -n b
    assert_output 'a b'
    try run --any 3 -n b -n a -n b -- touch ran
    assert_failure 64
    assert_file_not_exist ran
}

@test "uncontended it costs what K names cost: one round trip to take, one to give back" {
    which 0 --any 1 -n a -n b -n c # loads the scripts
    redis CONFIG RESETSTAT
    which 0 --any 1 -n a -n b -n c
    assert_equal "$(redis INFO commandstats | grep -o 'cmdstat_evalsha:calls=[0-9]*')" cmdstat_evalsha:calls=2
}

@test "fewer than K are none: nothing is held, and the conflict names a holder and the pool" {
    hold b
    ends_saying 75 'cannot take b' -- run --any 2 -x -n a -n b -- touch ran
    ends_saying 75 'cannot take b (any 3 of 3 names): held by ' -- run --any 3 -x -n a -n b -n c -- touch ran
    hold a
    ends_saying 75 'cannot take a (any 2 of 3 names): held by ' -- run --any 2 -x -n a -n b -n c -- touch ran
    ends_saying 75 'cannot take a (any 1 of 2 names): held by ' -- run --any 1 -x -n a -n b -- touch ran
    assert_free c
    let_go a
    let_go b
    reap "$holder"
}

@test "beside a name that the server refuses a busy one is no conflict: 69 in whatever order, unless too few are left" {
    local how
    hold a
    redis CONFIG SET maxmemory 1
    for how in 0 1s; do
        ends_saying 69 'cannot take b' OOM -- run -q --any 1 -w "$how" -n a -n b -- touch ran
        ends_saying 69 'cannot take b' OOM -- run -q --any 1 -w "$how" -n b -n a -- touch ran
    done
    ends_saying 75 'cannot take a (any 2 of 2 names): held by ' -- run --any 2 -x -n a -n b -- touch ran
    redis CONFIG SET maxmemory 0
    let_go a
    reap "$holder"
    assert_no_keys
}

@test "while it waits it holds nothing, and it enters with the first that comes free, be it Redisson's" {
    local name of_a
    hold a
    of_a=$holder
    foreign_hold b 60000
    hold c
    pool a b c
    wait_until 5 waiters b 1 # on everybody's channel, too, where Redisson tells of it
    foreign_release b
    wait_until 2 test -s got # it has heard of it
    taken b
    for name in a b c; do wait_until 5 in_line $name 0; done
    : >end
    let_go a
    let_go c
    ended_well "$pool" "$of_a" "$holder"
}

@test "any 2 of 3: the one that is free stays free for others until a second one is" {
    hold a
    local of_a=$holder
    hold b
    log=pool start run --any 2 -n a -n b -n c -- sh -c 'echo $RLOCK_NAME >got'
    wait_until 5 in_line a 1
    wait_until 5 in_line b 1
    assert_free c
    let_go b
    taken b c
    let_go a
    ended_well "$pid" "$of_a" "$holder"
}

@test "a wake-up that it did not need goes on to the next in that line" {
    hold a
    local of_a=$holder
    hold b
    pool a b
    log=single start run -n b -- touch single
    local single=$pid
    wait_until 5 in_line b 2
    kill -STOP "$pool" # both come free before it looks
    let_go a
    let_go b
    reap "$of_a"
    reap "$holder"
    kill -CONT "$pool"
    taken a
    reap "$single" 5
    assert_file_exist single
    : >end
    ended_well "$single" "$pool"
}

@test "a signal, or the end of the wait, leaves nothing in any line" {
    local name
    for name in a b; do hold $name; done
    try run --any 1 -w 200ms -n a -n b -- true
    assert_failure 75
    for name in a b; do in_line $name 0; done
    pool a b
    kill -TERM "$pool"
    reaps 143 "$pool"
    for name in a b; do in_line $name 0; done
    let_go a
    let_go b
    reap "$holder"
}

@test "inside a hold of one of the names it re-enters that one" {
    try run -n b -- "$RLOCK" run --any 1 -n a -n b -- sh -c 'echo $RLOCK_NAME'
    assert_success
    assert_output b
    assert_no_keys
}

@test "write and acquire have it; a handle has what was taken" {
    hold a
    try write --any 1 -x -n w1 -n w2 -- sh -c 'echo $RLOCK_NAME'
    assert_output w1
    try acquire run --any 1 -n a -n b
    assert_success
    assert_held b
    RLOCK_HANDLE=$output try release "$output"
    assert_success
    assert_free b
    let_go a
    reap "$holder"
    assert_no_keys
}

@test "status shows for which names a pool's waiter waits" {
    hold a
    local of_a=$holder
    hold b
    log=pool start run --any 1 --note nightly -n b -n a -- true
    local pool=$pid single
    wait_until 5 in_line a 1
    wait_until 5 in_line b 1
    try status a
    assert_output --partial 'any 1 of b, a; nightly'
    see b
    assert_seen 'v[0]["waiters"][0]["any"]' '1 of b, a'
    log=single start run -n b -- true
    single=$pid
    wait_until 5 in_line b 2
    see b
    assert_seen '"any" in v[0]["waiters"][1]' False
    let_go a
    reap "$pool"
    let_go b
    for pid in "$of_a" "$holder" "$single"; do reap "$pid"; done
}

@test "two hundred names over a slow line, of which the last is free: it is found at once, and no other is kept" {
    local names busy
    mapfile -t busy < <(seq -f $'-n\nn%03g' 199)
    mapfile -t names < <(seq -f $'-n\nn%03g' 200)
    hold n000 "${busy[@]}"
    proxy_start
    proxy lag 50
    took 0 1500 rlock run --any 1 -x "${names[@]}" -- printenv RLOCK_NAME
    assert_output n200
    let_go n000
    reap "$holder"
    assert_no_keys
}
