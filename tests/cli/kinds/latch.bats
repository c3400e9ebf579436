#!/usr/bin/env bats
# latch.bats: a count-down latch: set, counted down and waited for. Lost requests and replies: promise/lost_replies.bats;
# while one waits: waits.bats; Redisson's: tools/scripts.

load ../../lib/rlock
load ../../lib/latch

@test "set, down: what stands then and is told; a set beside another is 1, a down of none a warning" {
    local before words expected after told said
    while IFS='|' read -r before words expected after told said; do
        redis FLUSHALL
        [[ -z $before ]] || redis SET x "$before"
        listen "$latch_channel"
        # shellcheck disable=SC2086
        try latch $words -n x
        assert_equal "$before $words: $status $output" "$before $words: $expected "
        assert_equal "$before $words: $(redis GET x) $(heard "$latch_channel")" "$before $words: $after $told"
        [[ -n $after ]] || assert_no_keys
        assert_end_within 86400000 x
        if [[ -n $said ]]; then
            assert_message
            assert_stderr_has x
        else
            assert_equal "$words: $stderr" "$words: "
        fi
    done <<'END'
|set --count 3|0|3|1|
2|set --count 5|1|2||yes
4|down|0|3||
4|down --by 2|0|2||
1|down|0||0|
2|down --by 5|0||0|
|down|0|||yes
|down -q|0|||
END
    rlock latch set -n x --count 1
    rlock latch down -n x
    try latch set -n x --count 5 # it has opened
    assert_equal "$status $(redis GET x)" "0 5"
}

# --- down -- CMD -----------------------------------------------------------------------------------------

@test "down -- CMD counts when CMD has ended, and with --always however it ended; the status is CMD's" {
    local expected left options command
    while IFS='|' read -r expected left options command; do
        redis SET x 9
        # shellcheck disable=SC2086
        try latch down -n x $options -- sh -c "redis-cli -s '${RLOCK_SERVER#unix://}' GET x; $command"
        assert_equal "$options $command: $status $output$stderr" "$options $command: $expected 9"
        assert_equal "$options $command: $(redis GET x)" "$options $command: $left"
    done <<'END'
0|8||exit 0
0|7|--by 2|exit 0
7|9||exit 7
143|9||kill -TERM $$
0|8|--always|exit 0
7|8|--always|exit 7
137|8|--always|kill -KILL $$
END
    run -127 rlock latch down -n x --always -- no-such-command
    assert_equal "$(redis GET x)" 7
}

@test "down -- CMD on a latch that is not there, or not any more: CMD runs, a warning, 0" {
    try latch down -n x -- echo ran
    assert_success
    assert_output ran
    assert_message
    rlock latch set -n x --count 1
    try latch down -n x -- rlock latch down -n x
    assert_success
    assert_message
    assert_equal "$(keys)" ""
}

@test "CMD knows name and kind, the server that was an option, and enclosing locks, which are not its own" {
    local verb
    for verb in down wait; do
        try run -n m -- rlock latch $verb -q -s "$RLOCK_SERVER" -n x -- sh -c \
            'echo "$RLOCK_NAME $RLOCK_KIND $RLOCK_SERVER"; rlock run -x -n m -- sh -c "echo \$RLOCK_KIND \$RLOCK_NAME"'
        assert_equal "$verb: $status $output" "$verb: 0 x latch $RLOCK_SERVER"$'\nrun m'
    done
}

@test "down -- CMD: the server is away at the count: tried again until --connect-timeout, then 69 or CMD's own status" {
    local expected own options back io
    io=$(ms 200)
    proxy_start
    while read -r expected own back options; do
        redis SET x 3
        rm -f ready let-go
        # shellcheck disable=SC2086
        start latch down -n x $options -c "echo >ready; $SECTION --until let-go; exit $own"
        wait_until 5 test -s ready
        proxy refuse
        : >let-go
        if [[ $back == back ]]; then
            sleep 0.3 # it is trying
            proxy pass
        fi
        reap "$pid" 6
        assert_equal "$options: $status:$(redis GET x)" "$options: $expected"
        stderr=$(<err)
        [[ $back == back ]] || { assert_message && assert_stderr_has x; }
        proxy pass
    done <<END
69:3 0 away --connect-timeout $io --io-timeout $io
5:3 5 away --always --connect-timeout $io --io-timeout $io
0:2 0 back --connect-timeout $(ms 5000)
END
}

# --- wait --------------------------------------------------------------------------------------------------

@test "wait for one that is not there, or has opened: 0 at once, with a warning, and CMD runs" {
    took 0 500 rlock latch wait -n x
    assert_success
    assert_equal "$output" ""
    assert_stderr_has 'rlock: there is no latch x: it has opened, or was not set yet, which counts as open; --must-exist'
    try latch wait -q -n x
    assert_equal "$status $stderr" "0 "
    try latch wait -n x -x -- sh -c 'echo ran; exit 4'
    assert_failure 4
    assert_output ran
    rlock latch set -n x --count 1
    rlock latch down -n x
    took 0 500 rlock latch wait -n x
    assert_success
    assert_equal "$(keys)" ""
}

@test "wait: CMD of each of ten runs when the last count-down is done, within milliseconds, and not before" {
    local n opened
    redis SET x 2 # by Redisson
    for n in {1..10}; do
        waits "$n"
    done
    redis DECR x
    refute_entered {1..10}
    opened=$(now_ns)
    rlock latch down -n x
    for n in {1..10}; do
        passes "$n" "$opened"
    done
    wait_until 2 no_subscriptions
    assert_equal "$(keys)" ""
}

@test "no answer: 69, and that it may be carried out all the same; no server: nothing of that" {
    local words
    rlock latch set -n x --count 2
    freeze main
    for words in 'set -n y --count 3' 'down -n x'; do
        # shellcheck disable=SC2086 # words
        ends_saying 69 'carried out all the same' -- latch $words --io-timeout "$(ms 300)"
    done
    thaw main
    RLOCK_SERVER=unix://$PWD/none ends_saying 69 -- latch down -n x --connect-timeout "$(ms 300)"
    refute_regex "$stderr" 'carried out'
}

@test "--must-exist: waits until it is set, and then until it is open" {
    local opened
    try latch wait -n x --must-exist -w 200ms -- touch ran
    assert_failure 75
    assert_stderr_has x
    waits a --must-exist
    rlock latch set -n x --count 2
    rlock latch down -n x
    refute_entered a
    opened=$(now_ns)
    rlock latch down -n x
    passes a "$opened"
    assert_file_not_exist ran
    assert_equal "$(keys)" ""
}

@test "--must-exist: set and opened before the waiter looks: it has heard of it" {
    local opened
    waits a --must-exist
    opened=$(now_ns)
    redis EVAL 'redis.call("SET", KEYS[1], 1) redis.call("PUBLISH", KEYS[2], 1)
        redis.call("DEL", KEYS[1]) redis.call("PUBLISH", KEYS[2], 0)' 2 x "$latch_channel"
    passes a "$opened"
}

@test "--must-exist: opened while the waiter got no answer: it has seen the latch, and passes" {
    local direct=$RLOCK_SERVER opened
    rlock latch set -n x --count 1
    proxy_start
    waits a --must-exist
    proxy refuse-request evalsha 1 1 LOADING the data
    opened=$(now_ns)
    rlock latch down -n x -s "$direct"
    passes a "$opened"
    grep -q '^refused ' proxy.log
}
