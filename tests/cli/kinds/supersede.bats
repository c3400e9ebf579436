#!/usr/bin/env bats
# supersede.bats: --supersede: of those that wait with it only the newest stays. For deploys.

load ../../lib/rlock
load ../../lib/queue

# assert_superseded WHO...: their last line says so.
assert_superseded() {
    local who
    for who in "$@"; do
        stderr=$(tail -n 1 "$who.err")
        assert_message
        assert_stderr_has "cannot take x: superseded by $(id -un)@$(uname -n) pid "
    done
}

@test "five wait: each newcomer takes the place of the one before at once; the last gets the lock" {
    local who last=
    holds first fair
    for who in a b c d e; do
        brief "$who"
        act "$who" fair --supersede
        if [[ -n $last ]]; then
            wait_until 1 ended "${pid_of[$last]}"
            gone 79 "$last"
        fi
        wait_until 5 queued 1
        last=$who
    done
    finish first e
    assert_equal "$(order)" "first e"
    assert_superseded a b c d
    assert_stderr_has "pid ${pid_of[e]}"
    assert_no_keys
}

@test "five come at once: one of them gets the lock, four exit 79" {
    local who statuses=()
    holds first fair --supersede
    for who in a b c d e; do
        brief "$who"
        act "$who" fair --supersede
    done
    wait_until 5 left_over 1
    wait_until 5 queued 1
    finish first
    for who in a b c d e; do
        reap "${pid_of[$who]}"
        statuses+=("$status")
    done
    assert_equal "$(printf '%s\n' "${statuses[@]}" | sort | tr '\n' ' ')" "0 79 79 79 79 "
    assert_equal "$(wc -l <history)" 4
    assert_no_keys
}

left_over() { # N: of a to e are alive
    local who alive=0
    for who in a b c d e; do
        ended "${pid_of[$who]}" || alive=$((alive + 1))
    done
    ((alive == $1))
}

@test "79 whatever -E says, and no lock is touched" {
    local before
    foreign_hold x 60000
    act a fair --supersede -E 9
    wait_until 5 queued 1
    before=$(redis DUMP x | base64)
    act b fair --supersede -E 10
    gone 79 a
    signal TERM b
    gone 143 b
    assert_equal "$(redis DUMP x | base64)" "$before"
    assert_keys x
}

@test "who waits without --supersede keeps the turn, and takes nobody's" {
    holds first fair
    join p
    brief s1 s2
    joins s1 --supersede
    join q
    act s2 fair --supersede
    gone 79 s1
    wait_until 5 queued 3
    join r
    finish first p q s2 r
    assert_equal "$(order)" "first p q s2 r"
    assert_superseded s1
    assert_no_keys
}

@test "who does not wait supersedes nobody: a try with --no-wait, a re-entry" {
    start fair --supersede -n x -- sh -c 'until [ -e go ]; do sleep 0.01; done
        rlock fair --supersede -n x -- true && echo >in; until [ -e let-go ]; do sleep 0.01; done'
    holder=$pid
    wait_until 5 assert_held x
    brief a
    joins a --supersede
    kept_out fair --supersede
    : >go
    wait_until 5 test -s in
    queued 1
    : >let-go
    finish a
    reap "$holder"
    assert_equal "$status" 0
}

@test "one that hears nothing gives up all the same; one that was stopped, when it goes on" {
    holds first fair
    joins a --supersede
    joins b
    signal STOP a
    redis CLIENT KILL TYPE pubsub
    act c fair --supersede
    brief c
    wait_until 5 queued 2
    signal CONT a
    gone 79 a
    assert_superseded a
    signal TERM b
    gone 143 b
    queued 1
    finish first c
    assert_equal "$(order)" "first c"
    assert_no_keys
}

@test "one that was silent for so long that its place is gone gives up for the newer one, not the reverse" {
    holds first fair
    joins a --supersede
    signal STOP a
    redis DEL "$queue" "$scores" rlock_{queue,queue_beats,queuers}:'{x}' # as when it was dropped
    brief b
    joins b --supersede
    signal CONT a
    gone 79 a
    assert_superseded a
    assert_stderr_has "pid ${pid_of[b]}"
    finish first b
    assert_equal "$(order)" "first b"
    assert_no_keys
}

@test "replies are lost: a newcomer does not supersede itself, the word reaches the other" {
    proxy_start
    foreign_hold x 60000
    joins a --supersede
    proxy lose-reply "$(sha acquire fair)" 1 3
    brief b
    act b fair --supersede
    gone 79 a
    assert_bitten lost-reply 2
    wait_until 5 queued 1
    foreign_release x
    finish b
    assert_superseded a
    assert_no_keys
}

@test "several names: the last gets both, the others exit 79" {
    foreign_hold x 60000
    brief b
    act a fair --supersede -n y
    wait_until 5 queued 1
    act b fair --supersede -n y
    gone 79 a
    foreign_release x
    finish b
    assert_equal "$(order)" b
    assert_no_keys
}
