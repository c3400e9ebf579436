# protected.bash: one section of x that beats, and how it must have ended when its lock was lost.
# Needs build_section.
# shellcheck shell=bash

# protected OPTION...: a section of x in the background that beats until the file let-go is there; its
# log is history, and holder its rlock. Its status is 5 if nobody kills it.
protected() {
    start run -n x "$@" -- "$SECTION" --log history --beat beat --until let-go --exit 5
    holder=$pid
    wait_until 10 test -s history
}

# It goes on for MS from now, and ends well.
assert_kept() { # MS
    alive_for "$1"
    : >let-go
    reap "$holder"
    assert_equal "$status: $(cat err)" "5: "
}

# 76, the section is dead, and one line says so.
assert_lost() {
    reap "$holder"
    assert_equal "$status" 76
    ended "$(sed -n '1s/.*pid=//p' history)"
    run grep 'exit=[0-9]' history
    assert_failure 1
    stderr=$(cat err)
    assert_message
    assert_stderr_has x
}

# The section ended before the instant (ns), and had the lease for its own until MS before it.
assert_dead_before() { # NS MS
    local spare=$((($1 - $(beat beat)) / 1000000))
    ((spare > 0)) || fail "alive $((-spare)) ms after the lease's end"
    ((spare < $2 * SLOW)) || fail "killed $spare ms before the lease's end"
}
