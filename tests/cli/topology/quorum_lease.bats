#!/usr/bin/env bats
# quorum_lease.bats: a hold lives as long as a majority renews it, and the command not a moment
# longer than that.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/protected
load ../../lib/quorum

# held_by KIND [OPTION...]: the section, with a short lease.
held_by() {
    protected_by "$1" -l "$(ms 600)" "${@:2}"
}

@test "all are renewed, each kind" {
    needs_server 7.0 PEXPIRETIME
    local kind ends
    for kind in run read write; do
        rm -f history let-go beat
        held_by "$kind"
        wait_until 3 held_on_all x
        ends=$(everywhere PEXPIRETIME x | sort -n | tail -n 1)
        wait_until 3 all_end_after "$ends"
        ends_well
        nothing_left
    done
}

all_end_after() { # EPOCH_MS
    local first
    first=$(everywhere PEXPIRETIME x | sort -n | head -n 1)
    ((first > $1))
}

@test "two crash while the command runs: it goes on" {
    held_by run
    crash m1 m2
    assert_kept 1000
    nothing_left
}

@test "two hang while the command runs: it goes on, and leaves nothing there when they wake" {
    held_by write
    pause m3 m4
    assert_kept 1000
    resume m3 m4
    wait_until 3 nothing_left
}

@test "two hang, wake in time, and two others hang: it goes on" {
    held_by run -l "$(ms 1500)"
    pause m1 m2
    alive_for 700
    resume m1 m2
    alive_for 700
    pause m3 m5
    assert_kept 1800
    resume m3 m5
    wait_until 3 nothing_left
}

@test "one loses its data, then another: the others are a majority" {
    held_by run
    empty m2
    alive_for 500
    empty m5
    assert_kept 1000
    nothing_left
}

@test "one restarts empty: the same" {
    held_by write
    crash m4
    restart m4
    assert_kept 1000
    nothing_left
}

@test "all five restart empty, one after the other: what lost the hold is given it again" {
    local member
    held_by run
    for member in "${all[@]}"; do
        crash "$member"
        restart "$member"
        wait_until 5 held_on_all x
    done
    assert_equal "$(everywhere HGET x "$(sed -n '1s/.* owner=\([^ ]*\) .*/\1/p' history)" | sort -u)" 1
    assert_kept 700
    nothing_left
}

@test "three lose their data: 76 at the next renewal, and the rest is given back" {
    held_by run
    empty m1 m3 m5
    assert_lost_within 700
    nothing_left
}

@test "three were broken into by others: 76, and these are not touched" {
    held_by run
    # At once: what is merely gone from a server is taken there again.
    on m1 m2 m3 -- EVAL 'redis.call("DEL", KEYS[1]) redis.call("HSET", KEYS[1], ARGV[1], 1)
        redis.call("PEXPIRE", KEYS[1], 60000)' 1 x "$foreign_owner" >/dev/null
    assert_lost_within 1500
    only_foreign m1 m2 m3
}

@test "three crash: dead by the deadline, 76" {
    local end
    held_by run
    end=$(majority_end x)
    crash m1 m2 m3
    assert_lost_within 2000
    # Renewed a few times more, a third of the lease later each time, before they were gone.
    (($(beat beat) < end + 600000000 * SLOW)) || fail "alive $((($(beat beat) - end) / 1000000)) ms after"
    nothing_left
}

# Those that do no writes any more still tell until when they would hold it.
@test "three do not answer renewals: dead before the majority's leases end" {
    local end
    held_by run -l "$(ms 2400)"
    on m1 m2 m3 -- CLIENT PAUSE 60000 WRITE >/dev/null
    end=$(majority_end x)
    assert_lost_within 4000
    (($(beat beat) < end)) || fail "alive $((($(beat beat) - end) / 1000000)) ms after"
    on m1 m2 m3 -- CLIENT UNPAUSE >/dev/null
    wait_until 3 nothing_left
}

@test "three hang for less than the lease: it goes on" {
    held_by run -l "$(ms 6000)" --kill-after "$(ms 200)"
    pause m1 m2 m3
    alive_for 2500 # one renewal, at least, was not answered
    resume m1 m2 m3
    assert_kept 4500
    nothing_left
}

@test "rlock is stopped: its command is dead in time, and the next one enters after that" {
    held_by run
    brief next
    act next run
    wait_until 5 listening 1
    kill -STOP "$holder"
    gone 0 next
    (($(beat beat) < $(stamp next enter))) || fail "two at once"
    kill -CONT "$holder"
    assert_lost_within 1000
    nothing_left
}

@test "three hang until the lease is over: the waiter enters when they wake, not beside the one before" {
    held_by run
    brief next
    act next run
    wait_until 5 listening 1
    pause m1 m2 m3
    assert_lost_within 2000
    resume m1 m2 m3
    gone 0 next
    (($(beat beat) < $(stamp next enter))) || fail "two at once"
    wait_until 3 nothing_left
}

@test "--no-renew: one lease, counted for the majority" {
    local end
    held_by run --no-renew -l "$(ms 1800)"
    end=$(majority_end x)
    assert_lost_within 3000
    (($(beat beat) < end))
}

@test "--min-hold: the majority keeps it for so long" {
    took 0 800 rlock run --min-hold "$(ms 1000)" -n x -- true
    assert_success
    assert_equal "$(held_on x)" 5
    kept_out run
    wait_until 3 free_everywhere x
    try run -x -n x -- true
    assert_success
    nothing_left
}

@test "the release is not confirmed by a majority: the command's own status, and a warning" {
    held_by run
    pause m1 m2 m3
    : >let-go
    reap "$holder" 10
    assert_equal "$status" 5
    assert_regex "$(cat err)" '^rlock: .*x'
    resume m1 m2 m3
    wait_until 5 nothing_left
}
