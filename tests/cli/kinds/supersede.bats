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

@test "who does not wait supersedes nobody: a try with --no-wait, a re-entry" {
    start fair --supersede -n x -- sh -c '$SECTION --until go
        rlock fair --supersede -n x -- true && echo >in; $SECTION --until let-go'
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
    reaps 0 "$holder"
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

@test "several names, and -E: the last gets both, the one before it exits 79 all the same" {
    foreign_hold x 60000
    brief b
    act a fair --supersede -E 9 -n y
    wait_until 5 queued 1
    act b fair --supersede -E 10 -n y
    gone 79 a
    foreign_release x
    finish b
    assert_equal "$(order)" b
    assert_no_keys
}

@test "several names: who comes late into a line, after it waited for another name, gives up for one that came later" {
    foreign_hold w 60000
    foreign_hold x 60000
    act older fair --supersede -n w
    queue="redisson_lock_queue:{w}" wait_until 5 queued 1
    wait_until 5 queued 0 # both names are asked for at once, and the one that is not waited for is left again
    brief newer
    joins newer --supersede
    foreign_release w
    gone 79 older
    assert_superseded older
    foreign_release x
    finish newer
    assert_equal "$(order)" newer
    assert_no_keys
}
