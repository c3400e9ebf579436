#!/usr/bin/env bats
# fair.bats: first come, first served: the order, who leaves the queue, what is said, and fair's
# dealings with run.

load ../../lib/rlock
load ../../lib/queue

# --- order -------------------------------------------------------------------------------------

@test "eight that come one after the other enter in that order, none beside another" {
    holds first fair
    join a b c d e f g h
    finish first a b c d e f g h
    assert_equal "$(order)" "first a b c d e f g h"
    check_history --min-sections 9 history
    assert_no_keys
}

@test "a release is told to the head alone, as 0, the new lease to the next; nobody else is disturbed" {
    local place channel channels=() expected=()
    holds first fair
    join a b c d e
    for place in 1 2 3 4 5; do
        channel="redisson_lock__channel:{x}:$(at_place "$place")"
        wait_until 5 subscribed "$channel"
        ((place == 1)) || expected+=("$channel first 30000")
        expected+=("$channel 0")
        channels+=("$channel")
    done
    channels+=('redisson_lock__channel:{x}') # when nobody waits any more
    listen "${channels[@]}"
    redis CONFIG RESETSTAT
    finish first a b c d e
    assert_equal "$(sed -n '/^message$/,$p' messages | paste -d ' ' - - - | cut -d ' ' -f 2-)" \
        "$(printf '%s\n' "${expected[@]}" 'redisson_lock__channel:{x} 0')"
    (($(calls evalsha) <= 16)) || fail "$(calls evalsha) scripts for 5 hand-offs"
}

subscribed() { # CHANNEL
    (($(redis PUBSUB NUMSUB "$1" | tail -n 1) > 0))
}

# --- leaving -----------------------------------------------------------------------------------

@test "who leaves is out of the queue at once, the others keep their order: 75, 143, 130" {
    local stay
    holds first fair
    join a b
    joins timeout -w "$(ms 1500)"
    join c
    joins term
    joins int
    join d
    stay=$(printf '%s\n' "$(at_place 1)" "$(at_place 2)" "$(at_place 4)" "$(at_place 7)")
    signal TERM term
    signal INT int
    gone 143 term
    gone 130 int
    gone 75 timeout
    assert_equal "$(redis LRANGE "$queue" 0 -1)" "$stay"
    assert_equal "$(redis ZCARD "$scores")" 4
    finish first a b c d
    assert_equal "$(order)" "first a b c d"
    assert_no_keys
}

@test "the head leaves just when it is its turn: the next one enters at once" {
    holds first fair
    joins a
    join b
    signal STOP a
    wait_until 5 in_state "${pid_of[a]}" T
    brief first
    gone 0 first
    signal TERM a
    signal CONT a
    finish b
    reap "${pid_of[a]}"
    assert_equal "$status" 143
    assert_gap first b 1000
    assert_no_keys
}

@test "--no-wait does not queue, and does not go before those who do" {
    foreign_hold x 60000
    try fair -x -n x -- touch ran
    assert_failure 75
    assert_message
    assert_stderr_has "$foreign_owner"
    assert_keys x
    join a
    try fair -x -n x -- touch ran
    assert_failure 75
    queued 1
    signal TERM a
    gone 143 a
    redis DEL x
    redis RPUSH "$queue" "$foreign_waiter"
    redis ZADD "$scores" $(($(now_ms) + 60000)) "$foreign_waiter"
    try fair -x -n x -- touch ran
    assert_failure 75
    assert_file_not_exist ran
}

# --- what is said ------------------------------------------------------------------------------

@test "the waiting line shows the place" {
    holds first fair
    join a b c
    assert_regex "$(cat a.err)" "^rlock: waiting .*for x \\(fair, 1st of 1\\): held by $(id -un)@.* pid ${pid_of[first]}( for |, )"
    assert_regex "$(cat c.err)" '^rlock: waiting .*for x \(fair, 3rd of 3\): held by '
    finish first a b c
}

@test "on a terminal the place is that of now" {
    local screen
    holds first fair
    join a
    python3 "$TOOLS/terminal.py" 'expect=(fair, 2nd of 2)' 'expect=(fair, 2nd of 4)' 'sh=touch seen' \
        'expect=(fair, 1st of 3)' 'sh=touch end-first' expect=ran -- "$RLOCK" fair -n x -- echo ran >screen </dev/null 3>&- 4>&- &
    screen=$!
    wait_until 5 queued 2
    join b c
    wait_until 8 test -e seen
    signal TERM a
    gone 143 a
    reap "$screen"
    assert_equal "$status" 0
    finish b c
}

@test "65: the queue is something else, and stays as it is" {
    redis SET "$queue" 5
    try fair -n x -w 5s -- touch ran
    assert_failure 65
    assert_message
    assert_equal "$(redis GET "$queue")" 5
    assert_keys "$queue"
}

# --- run and fair ------------------------------------------------------------------------------

@test "run and fair of one name exclude each other" {
    holds first fair
    kept_out run
    kept_out fair
    act second run
    wait_until 5 waiters x 1
    finish first
    wait_until 5 entered_section second
    kept_out fair
    join a
    finish second a
    assert_equal "$(order)" "first second a"
    check_history --min-sections 3 history
    assert_no_keys
}

@test "run and fair re-enter each other, past all who wait: same owner and token" {
    export CLI="redis-cli -s ${RLOCK_SERVER#unix://}"
    start fair -n x -- sh -c 'look="\$CLI HVALS x; echo \$RLOCK_OWNER \$RLOCK_TOKEN"
        until [ -e go ]; do sleep 0.01; done
        eval "$look"
        rlock run -x -n x -- rlock fair -x -n x -- sh -c "$look"
        eval "$look"'
    wait_until 5 assert_held x
    join a b
    : >go
    reap "$pid"
    assert_equal "$status" 0
    assert_equal "$(sed -n '1p;3p;5p' out | tr '\n' ' ')" '1 3 1 '
    assert_equal "$(sed -n '2p;4p;6p' out | sort -u | wc -l)" 1
    finish a b
    try run -n x -- rlock fair -x -n x -- sh -c '$CLI HVALS x; exit 9'
    assert_failure 9
    assert_output 2
    assert_no_keys
}

@test "who waits by run is woken when the queue is empty" {
    holds first fair
    brief second
    act second run
    wait_until 5 waiters x 1
    join a b
    finish first a b second
    assert_equal "$(order)" "first a b second"
    assert_gap b second 1000
    assert_no_keys
}

# --- several names -----------------------------------------------------------------------------

@test "several names: all or none, and no place is kept in the queues of those not waited for" {
    foreign_hold y 60000
    brief a
    act a fair -n y
    wait_until 5 waiters y 1
    assert_equal "$(redis LLEN 'redisson_lock_queue:{y}')" 1
    wait_until 2 assert_free x
    try fair -x -n x -- true
    assert_success
    wait_until 2 queued 0
    foreign_release y
    finish a
    assert_no_keys
}
