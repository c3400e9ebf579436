#!/usr/bin/env bats
# cluster_reshard.bats: a slot moves from one master to another under those who hold its locks and those
# who wait for them.
#
# While a slot is on its way no script can run there that names a key which is not on the node it is
# sent to (ASK, TRYAGAIN): holders and waiters must bear with that, as with a server that hangs.

load ../../lib/rlock
load ../../lib/protected
load ../../lib/cluster

# entered_after NS WHO MS: it entered within so many ms from then.
entered_after() {
    (($(stamp "$2" enter) - $1 < $3 * 1000000 * SLOW)) || fail "$2 entered $((($(stamp "$2" enter) - $1) / 1000000)) ms later"
}

@test "the slot stands in the middle for longer than the lease, then moves on: renewed and given back where it is now, each kind" {
    local kind
    for kind in run write read 'sem --permits 1'; do
        holds_on "{x}${kind%% *}" "${kind%% *}" "$kind" -l "$(ms 1200)" --kill-after 100ms
    done
    migrate_begin x "$(other_master x)"
    sleep "$(awk "BEGIN { print 1.8 * $SLOW }")" # no key has moved
    migrate_end
    for kind in run write read; do
        wait_until 5 renewed "{x}$kind"
    done
    finish run write read sem
    at x DEL '{x}sem' >/dev/null # a semaphore's number
    nothing_left
}

@test "it stands in the middle, some keys moved, then all, for less than the lease: held" {
    local from
    from=$(home x)
    protected -l "$(ms 6000)" --kill-after 100ms
    migrate_begin x "$(other_master x)"
    migrate_keys x
    wait_until 4 scripts_tried "$from" 1 # a renewal
    alive_for 300
    migrate_keys
    alive_for 300
    migrate_end
    wait_until 4 renewed x
    ends_well
    nothing_left
}

@test "it stands in the middle for longer than the lease: never two at once" {
    protected -l "$(ms 600)"
    brief b
    act b run -w "$(ms 10000)"
    wait_until 5 waiting "$(home x)" x 1
    migrate_begin x "$(other_master x)"
    migrate_keys x
    sleep "$(awk "BEGIN { print 1.5 * $SLOW }")" # two leases and more
    migrate_end
    : >let-go
    gone 0 b
    reap "$holder"
    [[ $status == 5 || $status == 76 ]] || fail "status $status"
    (($(beat beat) < $(stamp b enter))) || fail "two at once"
    nothing_left
}

@test "a free lock of a slot on its way: 69 where the wait ends first, saying so; taken when it has arrived" {
    local begin from
    from=$(home x)
    rlock run -n x -- true # there is a token, and no other key: TRYAGAIN
    migrate_begin x "$(other_master x)"
    refuses 700 3000 69 x -- run -q -w 800ms -n x -- touch ran
    assert_regex "$stderr" 'TRYAGAIN|moved|reshard'
    redis_on "$from" CONFIG RESETSTAT
    brief a
    act a run -w "$(ms 10000)"
    wait_until 5 scripts_tried "$from" 2
    migrate_end
    begin=$(now_ns)
    gone 0 a
    entered_after "$begin" a 1500
    assert_equal "$(told a token)" 2
    nothing_left
}

# A slot on its way is asked for again and again, be it with ASK or TRYAGAIN as the answer.
scripts_tried() { # NODE TIMES
    redis_on "$1" INFO errorstats | awk -F = -v "least=$2" '/^errorstat_(TRYAGAIN|ASK):/ { n += $2 } END { exit n < least }'
}

@test "the slot moves under waiters: they listen where it is now, and are woken by message" {
    local kind to
    for kind in run fair; do
        rm -f history end-*
        to=$(other_master x)
        holds a "$kind" -l 30s
        brief b c
        act b "$kind" -l 30s
        act c "$kind" -l 30s
        wait_until 5 waiting "$(home x)" x 2
        migrate_begin x "$to"
        migrate_end
        wait_until 8 waiting "$to" x 2
        finish a
        gone 0 b c
        assert_gap a "$(order | cut -d ' ' -f 2)" 500
        check_history --min-sections 3 history
        nothing_left
    done
}

@test "a holder ends, and a waiter leaves, while the slot is on its way: given back when it has arrived, the next one is told" {
    local begin
    holds a fair -l 30s
    brief b
    act b fair
    wait_until 5 waiting "$(home x)" x 1
    act c fair
    wait_until 5 waiting "$(home x)" x 2
    migrate_begin x "$(other_master x)"
    migrate_keys x
    signal TERM c
    brief a
    wait_until 5 grep -q 'exit=[0-9].* who=a' history
    migrate_end
    begin=$(now_ns)
    gone 143 c
    gone 0 a b
    entered_after "$begin" b 2000
    check_history --min-sections 2 history
    wait_until 30 nothing_left # or what is dead in the queue goes
}

@test "several names, one of whose slots moves while they are held and while they are waited for" {
    local names to
    read -ra names <<<"$(cluster names)"
    to=$(other_master "${names[0]}")
    protected -l "$(ms 2400)" --kill-after "$(ms 200)" -n "${names[0]}" -n "${names[1]}"
    start run -n "${names[0]}" -n "${names[1]}" -- true
    migrate_begin "${names[0]}" "$to"
    migrate_end
    alive_for 2600
    ends_well
    reaps 0 "$pid"
    nothing_left
}

@test "any of two names, and the slot of the one that was not taken is on its way: its line is not waited for at the end" {
    local names
    read -ra names <<<"$(cluster names)"
    hold "${names[0]}"
    hold "${names[1]}"
    start run --any 1 -n "${names[0]}" -n "${names[1]}" -- sh -c 'echo "$RLOCK_NAME" >got; date +%s%N >ended'
    wait_until 5 waiting "$(home "${names[0]}")" "${names[0]}" 1
    wait_until 5 waiting "$(home "${names[1]}")" "${names[1]}" 1
    migrate_begin "${names[0]}" "$(other_master "${names[0]}")"
    let_go "${names[1]}"
    reaps 0 "$pid"
    (($(now_ns) - $(cat ended) < 1500000000 * SLOW)) || fail "it ended $((($(now_ns) - $(cat ended)) / 1000000)) ms after its command"
    assert_equal "$(cat got)" "${names[1]}"
    refute grep -q 'cannot confirm' err
    migrate_end
    let_go "${names[0]}"
    wait_until 30 nothing_left
}
