# protected.bash: one section of x that beats, and how it must have ended when its lock was lost.
# shellcheck shell=bash

# protected_by KIND [OPTION...]: a section in the background that beats until the file let-go is there; its
# log is history, and holder its rlock. Its status is 5 if nobody kills it. Without -n among the options its
# lock is x. protected [OPTION...]: run's.
protected_by() {
    local kind=$1 name=(-n x)
    shift
    [[ " $* " != *' -n '* ]] || name=()
    start "$kind" "${name[@]}" "$@" -- "$SECTION" --log history --beat beat --until let-go --exit 5
    holder=$pid
    wait_until 10 test -s history
}

protected() {
    protected_by run "$@"
}

ends_well() {
    : >let-go
    reaps 5 "$holder"
}

# assert_kept MS: it goes on for so long from now, and ends well; rlock has nothing to say but that a
# renewal has failed, and succeeded again.
assert_kept() {
    alive_for "$1"
    ends_well
    assert_equal "$(grep -v -e '^rlock: cannot renew .*; trying again, ' -e '^rlock: renewed .* again after ' err)" ""
}

# 76, the section is dead, and one line says so; before it there may be the warning that a renewal has
# failed.
assert_lost() {
    local pid
    reaps 76 "$holder"
    pid=$(sed -n '1s/.*pid=\([0-9]*\).*/\1/p' history)
    ended "$pid" || fail "its command lives"
    run grep "exit=[0-9].* pid=$pid\b" history
    assert_failure 1
    stderr=$(grep -v -e '^rlock: cannot renew x .*; trying again' -e '^rlock: renewed x .* again after' err)
    assert_message
    assert_stderr_has x
}

# assert_lost_within MS: the same, so soon; what the machine adds is measured beside.
assert_lost_within() {
    local spent added
    within $(($1 * SLOW)) reap "$holder"
    assert_lost
}

# The section ended before the instant (ns), and had the lease for its own until MS before it.
assert_dead_before() { # NS MS [BEAT]
    local spare=$((($1 - $(beat "${3-beat}")) / 1000000))
    ((spare > 0)) || fail "alive $((-spare)) ms after the lease's end"
    ((spare < $2 * SLOW)) || fail "killed $spare ms before the lease's end"
}
