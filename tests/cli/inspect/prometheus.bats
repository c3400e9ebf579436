#!/usr/bin/env bats
# prometheus.bats: `rlock status --prometheus`: what the figures say, in a format that the parser of
# Prometheus's own client library reads.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/status

# figures ARG...: rlock status --prometheus ARG..., which must succeed; what it prints is kept in seen.
figures() {
    try status --prometheus "$@"
    assert_success
    assert_equal "$stderr" ''
    seen=$output
}

# EXPRESSION: of what was seen, see prometheus.py.
assert_figures() { # EXPRESSION EXPECTED
    run -0 /usr/bin/python3 "$TOOLS/prometheus.py" "$1" <<<"$seen"
    assert_equal "$1: $output" "$1: $2"
}

# assert_of LOCK 'FIGURE...' VALUE...: what each of a lock's figures is, None for what there is not.
assert_of() {
    local values
    printf -v values ', %s' "${@:3}"
    assert_figures "[figure('rlock_' + name, name='$1') for name in '$2'.split()]" "[${values#, }]"
}

# epoch RFC3339: in seconds, as Python prints it.
epoch() {
    date -d "$1" +%s.%3N | sed 's/0*$//; s/\.$/.0/'
}

@test "held, since when, until when, who waits, tokens: as --json has them; the kind is a label of one figure only" {
    local since
    holds a run -l 20s
    act b run -q
    act c fair -q
    wait_until 5 waits_in_line 2
    see x
    since=$(epoch "$(value 'v[0]["holders"][0]["since"]')")
    figures x
    assert_figures 'figure("rlock_up"), figure("rlock_wrong_kind")' '(1.0, 0.0)'
    assert_figures 'figure("rlock_lock_info", name="x", kind="fair")' 1.0
    # A series outlives the first waiter, which makes a run a fair.
    assert_equal "$(grep -o '^rlock_[a-z_]*{.*kind=' <<<"$seen" | cut -d "{" -f 1)" rlock_lock_info
    assert_of x 'held holders kept waiting token' 1.0 1.0 0.0 2.0 1.0
    assert_figures '0 < figure("rlock_ttl_seconds", name="x") <= 20' True
    assert_figures '0 <= figure("rlock_waiting_seconds", name="x") <= figure("rlock_held_seconds", name="x") < 60' True
    assert_of x held_since_timestamp_seconds "$since"
    assert_figures "figure('rlock_held_by', name='x', host='$(uname -n)', user='$(id -un)')" 1.0
    assert_of x 'readers permits latch_remaining' None None None
    brief b c
    finish a
    gone 0 b c
}

@test "free, and all locks where there are none: 0, and nothing of what only a holder has" {
    figures x
    assert_figures 'names' "['rlock_up', 'rlock_wrong_kind', 'rlock_held', 'rlock_holders', 'rlock_waiting']"
    assert_of x 'held holders waiting' 0.0 0.0 0.0
    figures
    assert_figures names "['rlock_up', 'rlock_wrong_kind']"
}

@test "readers, permits, latches, and what --min-hold alone keeps" {
    rlock acquire read -n r
    rlock acquire read -n r
    rlock acquire write -n w
    rlock acquire sem -n s --permits 5 --take 2
    rlock latch set -n l --count 3
    rlock run -n kept --min-hold 60s -- true
    figures
    assert_of r 'readers holders held_by' 2.0 2.0 2.0
    assert_of w 'readers holders' 0.0 1.0
    assert_of s 'permits permits_available' 5.0 3.0
    assert_of l 'latch_remaining held holders' 3.0 1.0 None
    assert_of kept 'held kept held_by' 1.0 1.0 None
}

@test "the last run with --once-per: when, how long, how it ended; and the last that succeeded" {
    local succeeded
    figures x
    assert_of x last_run_exit_status None
    rlock run --once-per 1h -n x -- true
    see x
    succeeded=$(value 'v[0]["last_run"]["succeeded"]')
    figures x
    assert_of x last_run_exit_status 0.0
    assert_figures 'figure("rlock_last_run_timestamp_seconds") - figure("rlock_last_success_timestamp_seconds")' 0.0
    run -3 rlock run --once-per 0.001 -n x -- sh -c 'exit 3'
    figures
    assert_of x 'last_run_exit_status held' 3.0 0.0
    assert_figures '0 <= figure("rlock_last_run_duration_seconds") < 60' True
    redis HSET 'rlock_last:{x}' last "$(redis HGET 'rlock_last:{x}' last | sed 's/"took_ms":[0-9]*/"took_ms":5007/')"
    figures
    assert_of x 'last_run_duration_seconds last_success_timestamp_seconds' 5.007 "$(epoch "$succeeded")"
    assert_figures 'figure("rlock_last_run_timestamp_seconds") > figure("rlock_last_success_timestamp_seconds")' True
}

@test "labels: quotes, backslashes, newlines, other scripts; what else a terminal would obey is a question mark" {
    local odd=$'a"b\\c\\n{d="e"} \xc3\xbc\xe2\x80\xae\xff'
    redis HSET "$odd" "$JAVA" 1
    redis HSET y "$JAVA" 1
    redis HSET 'rlock_info:{y}' "$JAVA" '{"host":"one\ntwo\u001b[2J","user":"a\"b redis://u:S3CRET@h"}'
    figures "$odd" y
    assert_figures 'figure("rlock_held", name="a\"b\\c\\n{d=\"e\"} \u00fc??")' 1.0
    assert_figures 'figure("rlock_held_by", name="y", host="one\ntwo?[2J", user="a\"b redis://u:***@h")' 1.0
    refute_regex "$seen" S3CRET
}

@test "all locks, no series twice, whatever names look like; a lock without an end has no time to live" {
    redis HSET $'a\xe2\x80\xae' "$JAVA" 1
    redis HSET $'a\xe2\x80\xad' "$JAVA" 1
    redis HSET x "$JAVA" 1
    figures x x 'x*' y x
    assert_figures 'figure("rlock_held", name="x"), figure("rlock_held", name="y")' '(1.0, 0.0)'
    redis SET 'redisson_lock_token:{x}' 9223372036854775807
    redis EVAL "for i = 1, 300 do redis.call('HSET', 'lock' .. i, ARGV[1], 1) end" 0 "$JAVA"
    figures
    assert_figures 'figure("rlock_held", name="a?"), figure("rlock_held", name="x")' '(1.0, 1.0)'
    assert_figures 'len([f for f in families if f.name == "rlock_held"][0].samples)' 302
    assert_regex "$seen" 'rlock_token\{name="x",[^}]*\} 9223372036854775807' # to its last digit
    assert_of x 'held ttl_seconds held_since_timestamp_seconds' 1.0 None None
}

# --- what goes wrong -----------------------------------------------------------------------------

# figures_but STATUS [OPTION...] NAME...: it ends so, with one line that says why; what it prints is kept in seen.
figures_but() {
    ends_saying "$1" -- status --prometheus "${@:2}"
    seen=$output
}

@test "a name that is no lock: 65, counted, and the others are shown" {
    redis SADD set 1
    figures_but 65 a set b
    assert_stderr_has set 'no lock'
    assert_figures 'figure("rlock_up"), figure("rlock_wrong_kind")' '(1.0, 1.0)'
    assert_figures 'figure("rlock_held", name="a"), figure("rlock_held", name="set"), figure("rlock_held", name="b")' \
        '(0.0, None, 0.0)'
}

@test "each server has its own series, and who is away is seen; the status is that of status" {
    local m2 away=(--connect-timeout 100ms -s "unix://$PWD/none") up='[figure("rlock_up", server=server) for server in'
    figures_but 69 "${away[@]}" x
    assert_figures "figure('rlock_up', server='unix://$PWD/none'), names" "(0.0, ['rlock_up', 'rlock_wrong_kind'])"
    server_start m2
    m2=$(server_url m2)
    redis_on m2 HSET x "$JAVA" 1
    figures_but 0 -s "$RLOCK_SERVER" -s "$m2" "${away[@]}" x
    assert_figures "$up ('$RLOCK_SERVER', '$m2', 'unix://$PWD/none')]" '[1.0, 1.0, 0.0]'
    assert_figures "figure('rlock_held', server='$RLOCK_SERVER'), figure('rlock_held', server='$m2')" '(0.0, 1.0)'
    run -69 --separate-stderr rlock status --prometheus -s "$RLOCK_SERVER" "${away[@]}" -s "unix://$PWD/none2" x
    seen=$output
    assert_figures "$up ('$RLOCK_SERVER', 'unix://$PWD/none2')]" '[1.0, 0.0]'
}

@test "the manual lists the figures, and no others" {
    local said known
    said=$(sed -n '/^\.Ss Metrics for Prometheus/,/^\.S[hs] [^M]/s/^\.It Cm //p' "$PROJECT/man/rlock-status.1" | tr ' ' '\n' | grep '^rlock_' | sort)
    known=$(grep -rhoE '"rlock_[a-z_]+["{]' "$PROJECT"/cmd/report/{figures,status_prometheus}.c | tr -d '"{' | sort -u)
    assert_equal "$said" "$known"
}
