#!/usr/bin/env bats
# quorum_lease.bats: a hold lives as long as a majority renews it, and the command not a moment
# longer than that.

load ../../lib/rlock
load ../../lib/protected
load ../../lib/quorum

# held_by KIND [OPTION...]: the section, with a short lease.
held_by() {
    protected_by "$1" -l "$(ms 600)" "${@:2}"
}

@test "a majority is left, or back before the lease's end: it goes on, and leaves nothing on the others when they wake" {
    local kind lease faults options
    while IFS='|' read -r kind lease faults options; do
        rm -f history let-go beat
        reset "${all[@]}"
        alive=("${all[@]}")
        # shellcheck disable=SC2086 # words
        held_by "$kind" -l "$(ms "$lease")" $options
        wait_until 5 held_on_all x
        eval "$faults"
        assert_kept 2000 || fail "$kind: $faults"
        resume m3 m4 m5
        wait_until 3 nothing_left
    done <<'END'
run|1800|crash m1 m2
write|1800|pause m3 m4
read|1800|pause m3 m4; alive_for 800; resume m3 m4; alive_for 800; pause m4 m5
run|1800|empty m2; alive_for 500; empty m5
write|1800|crash m4; restart m4
run|3000|pause m1 m2 m3; alive_for 1300; resume m1 m2 m3|--kill-after 100ms
END
}

@test "three were broken into by others: 76, and these are not touched" {
    held_by run
    # At once: what is merely gone from a server is taken there again.
    on m1 m2 m3 -- EVAL 'redis.call("DEL", KEYS[1]) redis.call("HSET", KEYS[1], ARGV[1], 1)
        redis.call("PEXPIRE", KEYS[1], 60000)' 1 x "$foreign_owner" >/dev/null
    assert_lost_within 1500
    only_foreign m1 m2 m3
}

@test "three are gone while it runs: the line that says so blames none of those that answer" {
    held_by run -l "$(ms 1800)" -q
    crash m3 m4 m5
    assert_lost_within 4000
    run cat err
    refute_output --regexp '0 of 5 servers|; [^ ]*/m[12]/'
}

# Those that do no writes any more still tell until when they would hold it.
@test "three do not answer: dead before the majority's leases end, and the waiter enters when they do, not beside it" {
    local end
    held_by run -l "$(ms 1800)"
    brief next
    act next run
    wait_until 5 listening 1
    on m1 m2 m3 -- CLIENT PAUSE 60000 WRITE >/dev/null
    end=$(majority_end x)
    assert_lost_within 4000
    (($(beat beat) < end)) || fail "alive $((($(beat beat) - end) / 1000000)) ms after"
    on m1 m2 m3 -- CLIENT UNPAUSE >/dev/null
    gone 0 next
    (($(beat beat) < $(stamp next enter))) || fail "two at once"
    wait_until 3 nothing_left
}

@test "the release is not confirmed by a majority: the command's own status, and a warning" {
    held_by run
    pause m1 m2 m3
    : >let-go
    reaps 5 "$holder" 10
    assert_regex "$(cat err)" '^rlock: .*x'
    resume m1 m2 m3
    wait_until 5 nothing_left
}

# It answers when the others have decided the renewal, and does not know the script that puts a hold back.
@test "a server that answers later than the others is given back what it has lost, before another loses its data" {
    local kind
    quorum m1 m2 m3
    proxy_start m1
    redis_on m1 SCRIPT FLUSH >/dev/null
    proxy lag 110
    RLOCK_SERVER+=" $(urls m2 m3)"
    for kind in run write; do
        rm -f in go
        start "$kind" -n x -l 6s -- sh -c 'touch in; $SECTION --until go; exit 5'
        wait_until 10 test -e in
        wait_until 8 held_on_all x
        empty m1
        wait_until 8 held_on_all x
        empty m2
        wait_until 8 held_on_all x
        : >go
        reaps 5 "$pid" 2
    done
}

@test "a server that answered late when the lock was taken counts when another is gone before the first renewal" {
    local kind
    quorum m1 m2 m3
    proxy_start m3
    RLOCK_SERVER="$(urls m1 m2) $RLOCK_SERVER"
    proxy lag 30
    for kind in run read; do
        rm -f history let-go beat
        rlock "$kind" -n warm -- true
        held_by "$kind" -l 3s
        wait_until 1 held_on_all x
        crash m1
        assert_kept 3500
        restart m1
        wait_until 3 nothing_left
    done
}
