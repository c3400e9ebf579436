#!/usr/bin/env bats
# refusals.bats: a server that answers, and refuses. What passes is waited for: by who wants the lock
# until its wait ends, by who has it until its lease must end. Three are met, at the door and while two hold; others that
# mean the same, LOADING and more, are in unit/redis/test_reply_error.c.

load ../../lib/rlock
load ../../lib/protected

setup() {
    server_start odd --busy-reply-threshold 20
    rlock_setup
    proxy_start odd # it tells how often rlock has asked
}

redis() {
    redis_on odd "$@"
}

asked() { # N
    (($(requests .) >= $1))
}

# at_the_door WORD [MS]: whoever wants y ends with 69, and what it was, when the wait ends first; else waiter is there.
at_the_door() {
    local before wait=${2:-400}
    refuses $((wait * SLOW)) $((wait * SLOW + 2600)) 69 y "$RLOCK_SERVER" "$1" -- run -q -w "$(ms "$wait")" -n y -- touch ran
    before=$(requests .)
    log=waiter start run -q -n y -- touch waited
    waiter=$pid
    wait_until 10 asked $((before + 2))
    assert_file_not_exist waited
}

# Now in, and all is given back; a hold that was lost, and could not be, is there until its lease ends.
let_in() {
    reap "$waiter" 5
    assert_equal "$status: $(cat waiter.err)" "0: "
    assert_file_exist waited
    wait_until 2 nothing_left
}

# meets BEGIN END WORD [MS]: x is held with a short lease, long with one that outlasts what these commands begin and end;
# y is wanted meanwhile, and hears WORD.
meets() {
    local long sure_until after least ms=$((1000000 * SLOW))
    log=long start run -l "$(ms 7500)" --kill-after 100ms -n long -- "$SECTION" --log long --until let-go --exit 5
    long=$pid
    wait_until 10 test -s long
    least=$(($(requests .) + 4))
    protected -l "$(ms 1200)"
    sure_until=$(expiry x odd)
    $1
    after=$(now_ns)
    at_the_door "${@:3}"

    # Dead before the lease's end, by the last renewal that was confirmed surely not after the condition; and not long
    # before that which the server knew of.
    assert_lost
    asked "$least" || fail "one renewal that was refused, and no other"
    (($(beat beat) < after + 1200 * ms)) || fail "alive after the lease's end"
    (($(beat beat) > sure_until - 500 * ms)) || fail "dead $(((sure_until - 400 * ms - $(beat beat)) / ms)) ms before it had to be"

    # The renewals of the other are tried again until it is over.
    wait_until 5 grep -q 'cannot renew long .*; trying again' long.err
    $2
    wait_until 5 grep -q 'renewed long .* again after' long.err
    : >let-go
    reaps 5 "$long"
    let_in
}

busy() {
    helper redis-cli -s "$BATS_FILE_TMPDIR/odd/sock" EVAL 'while true do end' 0 >/dev/null 2>&1
    wait_until 5 is_busy
}
is_busy() { [[ $(redis PING) == BUSY* ]]; }

@test "NOREPLICAS" { meets 'redis CONFIG SET min-replicas-to-write 1' 'redis CONFIG SET min-replicas-to-write 0' replicas; }
@test "READONLY" { meets 'redis REPLICAOF 127.0.0.1 1' 'redis REPLICAOF NO ONE' READONLY; } # nobody listens on port 1
@test "BUSY" { meets busy 'redis SCRIPT KILL' BUSY 1200; } # it answers when its script has had the processor for a while

@test "out of memory while it runs: every kind is renewed, keeps others out, is given back, nested too; nothing is left" {
    local kind
    for kind in fair read write 'sem --permits 2'; do
        rm -f history let-go
        # shellcheck disable=SC2086
        start $kind -n "${kind%% *}" -l "$(ms 1200)" -- "$RLOCK" $kind -n "${kind%% *}" -l "$(ms 1200)" -- \
            "$SECTION" --log history --until let-go --exit 5
        wait_until 10 test -s history
        redis CONFIG SET maxmemory 1
        # shellcheck disable=SC2086
        [[ $kind == read ]] || ends_saying 75 "${kind%% *}" -- $kind -x -n "${kind%% *}" -- touch ran
        wait_until 5 asked $(($(requests .) + 4))
        : >let-go
        reap "$pid"
        assert_equal "$kind: $status: $(cat err)" "$kind: 5: "
        redis CONFIG SET maxmemory 0
        [[ $kind != sem* ]] || assert_equal "$(redis GETDEL sem)" 2
        nothing_left
    done
}
