#!/usr/bin/env bats
# once.bats: --once-per and --once-key: a run that has succeeded is not wanted again for a while, or with the same
# key, wherever it ran; one that has failed, however, leaves the next free.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/status

record='rlock_last:{x}'
starters=()

# skipped ARG...: rlock ARG... runs nothing, and says why in one line.
skipped() {
    try "$@"
    assert_success
    assert_output ""
    assert_message
    assert_stderr_has 'not running x: a run that took ' " ago on $(uname -n) (--once-per "
}

# runs ARG...: rlock ARG... runs its command, which says "ran".
runs() {
    try "$@"
    assert_equal "$status: $output" "0: ran"
}

@test "who comes within the time runs nothing: 0, or -E, and one line; who comes later runs" {
    local kind
    for kind in run fair; do
        redis FLUSHALL
        runs "$kind" --once-per 1h -n x -- echo ran
        assert_equal "$stderr" ""
        skipped run --once-per 1h -n x -- echo ran
        skipped fair -x --once-per 1h -n x -- echo ran
        skipped run -E 0 --once-per 1h -n x -- echo ran
        try fair -E 7 --once-per 1h -n x -- echo ran
        assert_equal "$status: $output" "7: "
        try run -q --once-per 1h -n x -- echo ran
        assert_equal "$status: $output$stderr" "0: "
        runs "$kind" -n x -- echo ran
        wait_until 5 runs run --once-per 50ms -n x -- echo ran
        assert_keys "$record"
    done
}

@test "-E of a file counts as well" {
    echo 'conflict-exit-code = 9' >"$RLOCK_CONFIG"
    runs run --once-per 1h -n x -- echo ran
    try run --once-per 1h -n x -- echo ran
    assert_failure 9
}

@test "a run that fails leaves the next free: by its status, by a signal, not found, stopped for its lease" {
    local command
    for command in 'exit 3' 'kill -KILL $$' 'exec ./no-such-command' 'kill -TERM $$'; do
        try run --once-per 1h -n x -- sh -c "$command" # 3, 137, 127, 143
        [[ $status =~ ^(3|137|127|143)$ ]] || fail "$status"
    done
    try run --once-per 1h -n x -- ./no-such-command
    assert_failure 127
    try run --once-per 1h --no-renew -l "$(ms 300)" -n x -- sleep 60
    assert_failure 76
    try run --once-per 1h --timeout "$(ms 100)" -n x -- sh -c 'trap "exit 0" TERM; sleep 60 & wait'
    assert_failure 124
    runs run --once-per 1h -n x -- echo ran
    skipped run --once-per 1h -n x -- echo ran
}

@test "so does one that lost its lock, though it ended well; and one whose rlock was killed" {
    try run --once-per 1h -n x -- redis-cli -s "${RLOCK_SERVER#unix://}" DEL x
    assert_failure 76
    try run --once-per 1h --on-lost warn -n x -- redis-cli -s "${RLOCK_SERVER#unix://}" DEL x
    assert_failure 76
    start run --once-per 1h -l "$(ms 1000)" -n x -- sh -c 'echo >in; sleep 60'
    wait_until 5 test -s in
    kill -KILL "$pid"
    reap "$pid"
    assert_equal "$(redis EXISTS "$record")" 0
    runs run --once-per 1h -n x -- echo ran
    skipped run --once-per 1h -n x -- echo ran
}

@test "who waits for a run that succeeds runs nothing; of those who wait for one that fails, one runs" {
    local who own
    for own in 0 3; do
        rm -f held-x let-go-x history
        log=hold start run --once-per 1h -n x -- sh -c ": >held-x; until [ -e let-go-x ]; do sleep 0.01; done; exit $own"
        holder=$pid
        wait_until 5 test -e held-x
        for who in a b c; do
            brief "$who" "$who$who"
            act "$who" run --once-per 1h
            act "$who$who" fair --once-per 1h
        done
        wait_until 5 waiters x 6
        : >let-go-x
        reap "$holder"
        assert_equal "$status" "$own"
        gone 0 a b c aa bb cc
        assert_equal "$own: $(order | wc -w)" "$own: $((own == 0 ? 0 : 1))"
        assert_equal "$(cat {a,b,c,aa,bb,cc}.err | grep -c 'not running x: ')" $((own == 0 ? 6 : 5))
        assert_keys "$record"
        redis FLUSHALL
    done
}

@test "--min-hold: who waits while the lock is kept runs nothing either" {
    runs run --once-per 1h --min-hold 1h -n x -- echo ran
    skipped run --once-per 1h -n x -- echo ran
    try run -x -n x -- echo ran
    assert_failure 75
}

@test "nested: an inner run is one, whatever is around it; what is around it without the option notes nothing" {
    runs run -n x -- rlock run --once-per 1h -n x -- echo ran
    try run -n x -- rlock fair --once-per 1h -n x -- echo ran
    assert_equal "$status: $output" "0: "
    skipped run --once-per 1h -n x -- echo ran
    redis FLUSHALL
    try run --once-per 1h -n x -- rlock run -n x -- sh -c 'exit 4'
    assert_failure 4
    see x
    assert_seen 'v[0]["last_run"]["exit_status"], v[0]["last_run"]["succeeded"]' "(4, None)"
    runs run --once-per 1h -n x -- rlock run -n x -- echo ran
}

@test "the reply to the release is lost: noted once; to the request that takes it: one run" {
    proxy_start
    try run --io-timeout "$(ms 300)" --once-per 1h -n x -- true
    assert_success
    redis DEL "$record"
    proxy lose-reply "$(sha release)" 1
    runs run --io-timeout "$(ms 300)" --once-per 1h -n x -- echo ran
    assert_equal "$stderr" ""
    skipped run --once-per 1h -n x -- echo ran
    redis DEL "$record"
    proxy lose-reply "$(sha acquire)" 1
    runs run --io-timeout "$(ms 300)" --once-per 1h -n x -- echo ran
    skipped fair --once-per 1h -n x -- echo ran
    assert_bitten lost-reply 2
}

@test "without the option nothing is asked and nothing noted" {
    monitor rlock run -n x -- true
    assert_equal "$(grep -ci evalsha monitor.txt)" 2
    assert_equal "$(grep -c rlock_last monitor.txt)" 1 # giving it back looks whether there is one
    assert_no_keys
    monitor rlock run --once-per 1h -n x -- true
    assert_equal "$(grep -ci 'evalsha.*rlock_last:{x}' monitor.txt)" 2
    monitor rlock run --once-per 1h -n x -- true
    assert_equal "$(grep -ci evalsha monitor.txt)" 1
}

@test "status shows the last run: when, where, for how long, with what status; also of a lock that is free" {
    local before
    before=$(now_ms)
    try run --once-per 1h -n x -- sh -c 'sleep 0.3; exit 5'
    see
    assert_seen 'v[0]["name"], v[0]["kind"], v[0]["state"]' "('x', None, 'free')"
    assert_seen '{k: n for k, n in v[0]["last_run"].items() if k not in ("ended", "took_ms", "pid")}' \
        "{'exit_status': 5, 'host': '$(uname -n)', 'user': '$(id -un)', 'command': 'sh -c sleep 0.3; exit 5', 'succeeded': None, 'key': None}"
    assert_seen "300 <= v[0]['last_run']['took_ms'] <= 3000 * $SLOW" True
    assert_seen "$before <= __import__('datetime').datetime.fromisoformat(v[0]['last_run']['ended'].replace('Z', '+00:00')).timestamp() * 1000 <= $(now_ms)" True
    try status x
    assert_line --regexp '^ +failed 5 after [0-9.]+m?s .*@.* [0-9]+m?s +sh -c sleep'
    try run --once-per 1h -n x -- true
    see x
    assert_seen 'v[0]["last_run"]["exit_status"], v[0]["last_run"]["succeeded"] == v[0]["last_run"]["ended"]' "(0, True)"
    hold x
    see x
    assert_seen 'v[0]["state"], len(v[0]["holders"]), v[0]["last_run"]["command"]' "('held', 1, 'true')"
    try status
    assert_line --regexp '^ +ran [0-9.]+m?s '
    try status -q x
    assert_failure 75
    let_go x
    reap "$holder"
    try status -q x
    assert_success
}

# --- --once-key ----------------------------------------------------------------------------------------

# skipped_key KEY ARG...: rlock ARG... with that key runs nothing, and says why in one line.
skipped_key() {
    try "${@:2}" --once-key "$1" -n x -- echo ran
    assert_success
    assert_output ""
    assert_message
    assert_stderr_has 'not running x: a run that took ' " ago on $(uname -n) (--once-key $1)"
}

@test "a key that has succeeded runs nothing, another one runs, and the last one counts" {
    local kind
    for kind in run fair; do
        redis FLUSHALL
        runs "$kind" --once-key 2026-11-24 -n x -- echo ran
        skipped_key 2026-11-24 run
        skipped_key 2026-11-24 fair -x
        try run -E 7 --once-key 2026-11-24 -n x -- echo ran
        assert_equal "$status: $output" "7: "
        runs "$kind" --once-key 2026-11-25 -n x -- echo ran
        skipped_key 2026-11-25 run
        runs "$kind" --once-key 2026-11-24 -n x -- echo ran # only the last is remembered
        runs "$kind" -n x -- echo ran
        assert_keys "$record"
    done
}

@test "a key whose run failed, was killed or lost its lock is left to the next" {
    try run --once-key k -n x -- sh -c 'exit 3'
    assert_failure 3
    try run --once-key k -n x -- sh -c 'kill -KILL $$'
    assert_failure 137
    try run --once-key k -n x -- redis-cli -s "${RLOCK_SERVER#unix://}" DEL x
    assert_failure 76
    runs run --once-key k -n x -- echo ran
    skipped_key k run
}

@test "of a key that several want at once one runs, and the others hear of it" {
    local i
    for i in 1 2 3 4 5; do
        log=key-$i start run --once-key k -n x -- sh -c 'echo x >>runs; sleep 0.2'
        starters[i]=$pid
    done
    for i in 1 2 3 4 5; do
        reap "${starters[i]}"
        assert_equal "$status" 0
    done
    assert_equal "$(wc -l <runs)" 1
}

@test "a key is kept for as long as the server keeps anything, whatever it is made of" {
    local key
    for key in 'a "b" \c' 'ü €' "$(printf 'tab\tnewline\nend')" "$(printf '%1024s' '' | tr ' ' k)"; do
        redis FLUSHALL
        runs run --once-key "$key" -n x -- echo ran
        try run -q --once-key "$key" -n x -- echo ran
        assert_equal "$status: $output$stderr" "0: "
        assert_equal "$(redis HGET "$record" key)" "$key"
        see x
        assert_seen "v[0]['last_run']['key'] is not None" True
    done
    assert_usage "cannot use --once-key 'kkk" 'it is too long: give at most 1024 bytes' -- \
        run --once-key "$(printf 'k%.0s' {1..1025})" -n x -- touch ran
    (($(redis PTTL "$record") > 3155000000000))
    runs run --once-per 1ms -n x -- echo ran # which does not shorten that
    (($(redis PTTL "$record") > 3155000000000))
    hold x
    try run -q -x -E 0 --max-skips 9 -n x -- echo ran # nor does this
    assert_success
    (($(redis PTTL "$record") > 3155000000000))
    let_go x
    reap "$holder"
}

@test "status shows the last key" {
    local option
    try run --once-key "$(printf 'v1\033[31m')" -n x -- true
    for option in '' --json; do
        try status $option x
        assert_output --partial v1
        refute_output --partial $'\033'
    done
    try run --once-key v2 -n x -- false
    see x
    assert_seen 'v[0]["last_run"]["key"].startswith("v1")' True
}
