#!/usr/bin/env bats
# quorum.bats: one lock on a majority of independent servers: taken, re-entered, given back, refused.

load ../../lib/rlock
load ../../lib/quorum

@test "run, read, write: held on all of them, others are kept out, and given back on all; who waits is in at once" {
    local kind rival
    brief b
    while read -r kind rival; do
        rm -f history end-a
        holds a "$kind" -l "$(ms 6000)" # who was late is asked again with the renewal
        wait_until 5 held_on_all x
        kept_out "$rival"
        act b "$rival" -l 30s
        wait_until 5 listening 1
        finish a
        gone 0 b
        assert_gap a b 1500
        nothing_left
    done <<'END'
run run
write write
write read
read write
END
    rlock run --min-hold "$(ms 1000)" -n x -- true
    assert_equal "$(held_on x)" 5
    wait_until 3 free_everywhere x
}

@test "a quorum of three: -s in whatever order, a config file, which -s replaces, and the command lead to the same lock" {
    local servers=(-s "$(server_url m2)" -s "$(server_url m3)" -s "$(server_url m1)")
    quorum m1 m2 m3
    echo "server = $RLOCK_SERVER" >"$RLOCK_CONFIG"
    unset RLOCK_SERVER
    holds a run
    assert_equal "$(held_on x)" 3
    kept_out run "${servers[@]}"
    finish a
    try run "${servers[@]}" -n x -- sh -c 'echo $RLOCK_SERVER; exec rlock run -x -n x -- printenv RLOCK_TOKEN'
    assert_output "$(urls m2 m3 m1)"$'\n2'
    rlock run -s "$(server_url m4)" -n x -- true
    assert_equal "$(on m1 m4 -- GET 'redisson_lock_token:{x}' | xargs)" "2 1"
    run -127 --separate-stderr rlock run -n x -- no-such-command
    nothing_left
}

@test "held by others on a majority: 75, or -E, and what the rest have granted is given back; on a minority: the rest will do" {
    foreign_on m2 m3 m5
    ends_saying 75 x "$foreign_owner" -- run -x -n x -- touch ran
    try run -w 300ms -E 42 -n x -- touch ran
    assert_failure 42
    assert_file_not_exist ran
    only_foreign m2 m3 m5
    on m1 m3 m4 -- HSET y mode write "$foreign_owner:write" 1
    try read -x -n y -- true
    assert_failure 75
    assert_equal "$(keys_left | sort | xargs)" "x x x y y y"
    on m1 m3 m4 -- DEL y
    redis_on m3 DEL x
    holds a run
    assert_equal "$(held_on x) $(on m2 m5 -- HKEYS x | sort -u)" "5 $foreign_owner"
    finish a
    only_foreign m2 m5
}

# Of several that come together, and do not wait, one must get it.
@test "-x, and nobody has a majority: tried again until somebody has, or 75 after some seconds" {
    foreign_on m1 m2
    on m3 m4 -- HSET x another 1 >/dev/null
    took 1300 4000 rlock run -x -n x -- true
    assert_failure 75
    on m1 m2 m3 m4 -- PEXPIRE x 900 >/dev/null # rlock is patient for 1.5 s, however slow the machine
    took 100 2500 rlock run -x -n x -- true
    assert_equal "$status: $stderr" "0: "
    wait_until 3 nothing_left
}

@test "--once-per: one of them that knows of a run is enough; a run that fails leaves the next free" {
    try run --once-per 1h -n x -- sh -c 'exit 3'
    assert_failure 3
    rlock run --once-per 1h -n x -- true
    assert_equal "$(everywhere EXISTS 'rlock_last:{x}' | xargs)" "1 1 1 1 1"
    on m1 m2 m3 m4 -- DEL 'rlock_last:{x}'
    crash m1 m2
    try run --once-per 1h -n x -- touch ran
    assert_success
    assert_stderr_has 'not running x: a run that took '
    assert_file_not_exist ran
    redis_on m5 DEL 'rlock_last:{x}'
    try run --once-per 1h -n x -- echo ran
    assert_output ran
    everywhere DEL 'rlock_last:{x}'
}

@test "--preempt: the holder makes way, also where one of them is gone" {
    holds a run --preemptible
    crash m2
    brief b
    act b run --preempt
    gone 79 a
    gone 0 b
    check_history history
    nothing_left
}
