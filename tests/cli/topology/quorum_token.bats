#!/usr/bin/env bats
# quorum_token.bats: fencing tokens grow from holder to holder, whatever majorities answered; and lost
# requests and replies, on some of the servers, leave nothing behind.

load ../../lib/rlock
load ../../lib/quorum

# grown [KIND]: the token of one more holder is larger than the last one.
grown() {
    local token
    token=$(rlock "${1:-run}" -n x -- printenv RLOCK_TOKEN)
    ((token > last)) || fail "token $token after $last"
    last=$token
}

@test "by turns each server runs ahead, is gone with another, and comes back empty: the tokens grow, each kind" {
    local kind one
    for kind in run write read; do
        last=0
        for one in 1 2 3 4 5; do
            redis_on "m$one" INCRBY 'redisson_lock_token:{x}' 10 >/dev/null
            grown "$kind"
            pause "m$one" "m$((one % 5 + 1))"
            grown "$kind"
            resume "m$one" "m$((one % 5 + 1))"
            grown "$kind"
            crash "m$one"
            grown "$kind"
            restart "m$one"
            grown "$kind"
        done
    done
}

# --- lost requests and replies -----------------------------------------------------------------

# What is held on the servers without a fault, one of which may be late.
look='for s; do redis-cli -s "$s" HVALS x; done | grep . | sort -u; exit 5'

# A server that is silent is not waited for: there the lock stands until its lease has ended.
@test "a reply or request is lost on one server, or never comes: one hold, and nothing left when the lease is over" {
    local fault verb lease=1h
    through_proxy
    for fault in lose-reply lose-request mute-reply mute-request; do
        [[ $fault != mute* ]] || lease=$(ms 1500)
        for verb in acquire release; do
            proxy "$fault" "$(sha "$verb")" 1
            took 0 2500 rlock run -l "$lease" -n x -- sh -c "$look" sh "$BATS_FILE_TMPDIR"/m{2..5}/sock
            assert_equal "$fault $verb: $status $output" "$fault $verb: 5 1"
            proxy pass
            wait_until 3 nothing_left
        done
    done
    assert_bitten lost-reply 4
    assert_bitten lost-request 4
}

@test "a server that goes mute is told on another connection: of a hold and a place in line" {
    through_proxy
    proxy mute-reply "$(sha acquire)" 1
    rlock run -l 1h -n x -- true
    nothing_left
    foreign_on m1 m2 m3 m4 m5
    proxy mute-reply "$(sha acquire)" 2 # that has taken the place
    try run -w 1 -n x -- true
    assert_failure 75
    only_foreign m1 m2 m3 m4 m5
    assert_bitten lost-reply 2
}
