#!/usr/bin/env bats
# once.bats: --once-per and --once-key: a run that has succeeded is not wanted again for a while, or with the same
# key, wherever it ran; one that has failed, however, leaves the next free. What is noted: tools/scripts.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/status

record='rlock_last:{x}'

# skipped ONCE ARG...: rlock ARG... with that option runs nothing, and says why in one line.
skipped() {
    # shellcheck disable=SC2086
    try "${@:2}" $1 -n x -- echo ran
    assert_equal "$status: $output" "0: "
    assert_message
    assert_stderr_has 'not running x: a run that took ' " ago on $(uname -n) (${1% *} "
}

# runs ARG...: rlock ARG... runs its command, which says "ran".
runs() {
    try "$@" -n x -- echo ran
    assert_equal "$status: $output" "0: ran"
}

@test "who comes within the time, or with the same key, runs nothing: 0, or -E, and one line" {
    local kind words once
    for kind in run fair; do
        for words in '--once-per 1h' '--once-key 2026-11-24'; do
            read -ra once <<<"$words"
            redis FLUSHALL
            : >"$RLOCK_CONFIG"
            runs "$kind" "${once[@]}"
            assert_equal "$stderr" ""
            skipped "$words" run
            skipped "$words" fair -x
            skipped "$words" run -E 0
            try fair -E 7 "${once[@]}" -n x -- echo ran
            assert_equal "$status: $output" "7: "
            try run -q "${once[@]}" -n x -- echo ran
            assert_equal "$status: $output$stderr" "0: "
            echo 'conflict-exit-code = 9' >"$RLOCK_CONFIG"
            try run "${once[@]}" -n x -- echo ran
            assert_equal "$status: $output" "9: "
            runs "$kind"
            assert_keys "$record"
        done
    done
}

@test "who comes later, or with another key, runs; only the last key is remembered" {
    runs run --once-per 1h
    wait_until 5 runs run --once-per 50ms
    redis FLUSHALL
    runs run --once-key 2026-11-24
    runs fair --once-key 2026-11-25
    skipped '--once-key 2026-11-25' run
    runs run --once-key 2026-11-24
}

@test "a run that fails leaves the next free, however it failed" {
    local expected words
    while IFS='|' read -r expected words; do
        eval "words=($words)"
        try run --once-per 1h --once-key k -n x "${words[@]}"
        assert_equal "${words[*]}: $status" "${words[*]}: $expected"
    done <<'END'
3|-- sh -c 'exit 3'
137|-- sh -c 'kill -KILL $$'
143|-- sh -c 'kill -TERM $$'
127|-- ./no-such-command
124|--timeout "$(ms 100)" -- sh -c 'trap "exit 0" TERM; sleep 60 & wait'
76|--no-renew -l "$(ms 300)" -- sleep 60
76|-- redis-cli -s "${RLOCK_SERVER#unix://}" DEL x
76|--on-lost warn -- redis-cli -s "${RLOCK_SERVER#unix://}" DEL x
END
    start run --once-per 1h -l "$(ms 1000)" -n x -- sh -c 'echo >in; sleep 60'
    wait_until 5 test -s in
    kill -KILL "$pid"
    reap "$pid"
    runs run --once-per 1h --once-key k
    skipped '--once-per 1h' run
    skipped '--once-key k' run
}

@test "who waits for a run that succeeds runs nothing; of those who wait for one that fails, one runs" {
    local who own
    for own in 0 3; do
        rm -f held-x let-go-x history
        log=hold start run --once-per 1h -n x -- sh -c ": >held-x; $SECTION --until let-go-x; exit $own"
        holder=$pid
        wait_until 5 test -e held-x
        for who in a b c; do
            brief "$who" "$who$who"
            act "$who" run --once-per 1h
            act "$who$who" fair --once-per 1h
        done
        wait_until 5 waiters x 6
        : >let-go-x
        reaps "$own" "$holder"
        gone 0 a b c aa bb cc
        assert_equal "$own: $(order | wc -w)" "$own: $((own == 0 ? 0 : 1))"
        assert_equal "$(cat {a,b,c,aa,bb,cc}.err | grep -c 'not running x: ')" $((own == 0 ? 6 : 5))
        assert_keys "$record"
        redis FLUSHALL
    done
}

@test "--min-hold: who waits while the lock is kept runs nothing either" {
    runs run --once-per 1h --min-hold 1h
    skipped '--once-per 1h' run
    try run -x -n x -- echo ran
    assert_failure 75
}

@test "nested: an inner run is one, whatever is around it; what is around it without the option notes nothing" {
    try run -n x -- rlock run --once-per 1h -n x -- echo ran
    assert_equal "$status: $output" "0: ran"
    try run -n x -- rlock fair --once-per 1h -n x -- echo ran
    assert_equal "$status: $output" "0: "
    skipped '--once-per 1h' run
    redis FLUSHALL
    try run --once-per 1h -n x -- rlock run -n x -- sh -c 'exit 4'
    assert_failure 4
    see x
    assert_seen 'v[0]["last_run"]["exit_status"], v[0]["last_run"]["succeeded"]' "(4, None)"
    try run --once-per 1h -n x -- rlock run -n x -- echo ran
    assert_equal "$status: $output" "0: ran"
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
    hold x
    see x
    assert_seen 'v[0]["last_run"]["exit_status"], v[0]["last_run"]["succeeded"] == v[0]["last_run"]["ended"]' "(0, True)"
    assert_seen 'v[0]["state"], len(v[0]["holders"]), v[0]["last_run"]["command"]' "('held', 1, 'true')"
    try status
    assert_line --regexp '^ +ran [0-9.]+m?s '
    let_go x
    reap "$holder"
}

@test "a key is kept for as long as the server keeps anything, whatever it is made of" {
    local key
    for key in 'a "b" \c' 'ü €' "$(printf 'tab\tnewline\nend')" "$(printf '%1024s' '' | tr ' ' k)" "$(printf 'v1\033[31m')"; do
        redis FLUSHALL
        runs run --once-key "$key"
        try run -q --once-key "$key" -n x -- echo ran
        assert_equal "$status: $output$stderr" "0: "
        assert_equal "$(redis HGET "$record" key)" "$key"
        see x
        assert_seen "v[0]['last_run']['key'] is not None" True
    done
    rlock run --once-key v2 -n x -- false || true
    try status x
    assert_output --partial 'v1?[31m'
    assert_usage "cannot use --once-key 'kkk" 'it is too long: give at most 1024 bytes' -- \
        run --once-key "$(printf 'k%.0s' {1..1025})" -n x -- touch ran
    runs run --once-per 1ms # which does not shorten that
    (($(redis PTTL "$record") > 3155000000000))
}
