#!/usr/bin/env bats
# fair.bats: first come, first served: the order, who leaves the queue, what is said, and fair's
# dealings with run.

load ../../lib/rlock
load ../../lib/actors
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

@test "the order stays over a long hold, for those far behind too" {
    local before end
    holds first fair
    join {a..r}
    before=$(redis LRANGE "$queue" 0 -1)
    end=$(($(now_ms) + 11000))
    while (($(now_ms) < end)); do
        assert_equal "$(redis LRANGE "$queue" 0 -1)" "$before"
        sleep 0.1
    done
    finish first {a..r}
    assert_equal "$(order)" "first $(echo {a..r})"
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

@test "nobody in the queue: a release is told on everybody's channel, as 0" {
    listen 'redisson_lock__channel:{x}'
    rlock fair -n x -- true
    wait_until 2 grep -q message messages
    assert_equal "$(sed -n '/^message$/,$p' messages)" "$(printf '%s\n' message 'redisson_lock__channel:{x}' 0)"
}

@test "the lock is broken: 76 for its holder, and the head enters" {
    holds first fair -l "$(ms 1200)"
    join a b
    redis DEL x
    gone 76 first
    finish a b
    assert_equal "$(order)" "first a b"
    assert_no_keys
}

@test "SIGKILL of the holder's rlock: the head enters at the end of the lease, the next after it" {
    local end
    holds first fair -l "$(ms 1500)"
    join a b
    signal KILL first
    end=$(expiry x)
    finish a b
    assert_equal "$(order)" "first a b"
    (($(stamp a enter) >= end - 2000000))
    (($(stamp a enter) - end < 500000000 * SLOW)) || fail "$(($(stamp a enter) - end)) ns after the lease"
    assert_gap a b 1000
}

@test "--min-hold: the head enters when it is over, at once" {
    local begun
    brief first
    begun=$(moment)
    holds first fair --min-hold "$(ms 1000)"
    join a b
    finish first a b
    assert_equal "$(order)" "first a b"
    (($(stamp a enter) - begun >= 1000000000 * SLOW))
    (($(stamp a enter) - $(stamp first enter) < 1500000000 * SLOW))
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

@test "the only waiter leaves: nothing of the queue is left" {
    foreign_hold x 60000
    try fair -n x -w 300ms -- touch ran
    assert_failure 75
    assert_keys x
    joins a
    signal TERM a
    gone 143 a
    assert_keys x
    assert_file_not_exist ran
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

@test "the command's environment and status; tokens grow over run and fair" {
    local kind n=0
    for kind in run fair run fair; do
        try "$kind" -n x -- sh -c 'echo "$RLOCK_KIND $RLOCK_TOKEN"; exit 7'
        assert_failure 7
        assert_output "$kind $((n += 1))"
    done
    try fair -n x -- sh -c 'kill -TERM $$'
    assert_failure 143
    run -127 --separate-stderr rlock fair -n x -- nonesuch
    assert_no_keys
}

@test "75 or -E: not acquired in time" {
    foreign_hold x 60000
    took 300 1000 rlock fair -n x -w 300ms -- touch ran
    assert_failure 75
    stderr=$(tail -n 1 <<<"$stderr")
    assert_message
    assert_stderr_has x "$foreign_owner"
    try fair -n x -w 10ms -E 9 -- touch ran
    assert_failure 9
    assert_file_not_exist ran
    wait_until 2 no_subscriptions
}

@test "65: the name, or the queue, is something else; nothing is touched" {
    local wrong before key
    for wrong in 'SET x 5' 'RPUSH x a' "HSET x mode read $foreign_owner 1" 'HSET x colour red' "SET $queue 5"; do
        redis FLUSHALL
        redis <<<"$wrong"
        key=$(keys)
        before=$(redis DUMP "$key" | base64)
        try fair -n x -w 5s -- touch ran
        assert_failure 65
        assert_message
        assert_equal "$(redis DUMP "$key" | base64)" "$before"
        assert_keys "$key"
    done
    assert_file_not_exist ran
}

@test "69: nothing listens there; 64: what can't be" {
    try fair -x -n x -s unix:///nonexistent/sock -- touch ran
    assert_failure 69
    assert_message
    try fair -x -n x --permits 3 -- touch ran
    assert_failure 64
    assert_message
    try fair -x -- touch ran
    assert_failure 64
    assert_file_not_exist ran
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
