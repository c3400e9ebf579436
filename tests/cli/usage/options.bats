#!/usr/bin/env bats
# options.bats: what the options mean, and the help about them; what each kind's options refuse.

load ../../lib/rlock

# assert_lease MS [OPTION...]: the lease that the server keeps is MS.
assert_lease() {
    local expected=$1 ttl
    shift
    ttl=$(rlock run -n x "$@" -- redis-cli -s "${RLOCK_SERVER#unix://}" PTTL x)
    ((ttl <= expected && ttl > expected - 3000)) || fail "$*: $ttl, not $expected"
}

@test "durations: every unit, and bare and decimal numbers as seconds" {
    assert_lease 5500 -l 5500ms
    assert_lease 30000 -l 30s
    assert_lease 300000 -l 5m
    assert_lease 7200000 -l 2h
    assert_lease 604800000 -l 7d
    assert_lease 90000 -l 90
    assert_lease 4500 -l 4.5
    assert_lease 5400000 -l 1.5h
}

@test "the lease is 30 s unless told" {
    assert_lease 30000
}

@test "short and long options, with = and without, and joined" {
    assert_lease 40000 --lease=40s
    assert_lease 40000 --lease 40s
    assert_lease 40000 -l40s
    assert_lease 40000 -xql 40s
    assert_lease 40000 -w forever -l 40s
}

@test "options end at the first operand, -- or not" {
    try run -n x sh -c 'echo "$0 $1"' -n y
    assert_success
    assert_output "-n y"
    try run -n x -- sh -c 'echo "$0 $1"' -- -x
    assert_success
    assert_output -- "-- -x"
}

@test "-c STRING is run by /bin/sh -c" {
    try run -n x -c 'echo one two | tr a-z A-Z; exit 3'
    assert_failure 3
    assert_output "ONE TWO"
}

@test "names: 512 bytes, blanks and UTF-8 are names" {
    local name
    for name in "$(printf 'x%.0s' {1..512})" 'two words' 'schlüssel/ключ' '*' '-n'; do
        try run --name="$name" -- sh -c 'printf %s "$RLOCK_NAME"'
        assert_success
        assert_output "$name"
        assert_equal "$(redis GET "redisson_lock_token:{$name}")" 1
    done
}

@test "a value that looks like an option is refused, unless it is joined: -n -x has lost its name" {
    assert_usage --name "'-x'" --name=-x -- run -n -x -- touch ran
    assert_usage --name=-1 -- run -n -1 -- touch ran
    assert_usage --name=-- -- run -w 1s -n -- touch ran
    assert_usage --command "'-n'" -- run -c -n x
    assert_usage --tls-ca=-v -- run -n x --tls-ca -v -- touch ran
    assert_usage --owner=--force -- break x --owner --force
    assert_usage --server 'give --server URL' -- run -n x -s -v -- touch ran
    assert_usage 'cannot use --wait' -- run -n x -w -1 -- touch ran
    try run -n-x -- sh -c 'printf %s "$RLOCK_NAME"'
    assert_success
    assert_output -- -x
}

@test "help: on standard output, status 0, no server asked" {
    local form before
    before=$(connections)
    for form in help --help -h 'help run' 'run --help' 'run -h'; do
        # shellcheck disable=SC2086
        try $form
        assert_success
        assert_equal "$stderr" ""
        assert_output --partial "rlock run"
    done
    assert_equal "$(connections)" $((before + 1))
}

@test "help run: every option of run is there" {
    local option
    try help run
    for option in -n --name -s --server -w --wait -x --no-wait -l --lease --no-renew --kill-after \
        --on-lost --min-hold -E --conflict-exit-code --connect-timeout --io-timeout -q -v --log -c; do
        assert_regex "$output" "(^|[^-[:alnum:]])$option([^-[:alnum:]]|\$)"
    done
}

@test "help of a command that is none: 64, with the nearest" {
    try help rnu
    assert_failure 64
    assert_message
    assert_stderr_has run
}

@test "--version" {
    try --version
    assert_success
    assert_output --regexp '^rlock [0-9]+\.[0-9]+\.[0-9]+'
}

@test "a full disk on standard output is a failure" {
    run --separate-stderr bash -c "'$RLOCK' --version >/dev/full"
    assert_failure 71
    assert_message
    run bash -c "'$RLOCK' help >/dev/full"
    assert_failure 71
}

@test "without -v nothing is said; with -v the lock is named" {
    try run -n deploy -- true
    assert_equal "$stderr" ""
    try run -v -n deploy -- true
    assert_success
    assert_stderr_has "rlock: " deploy
}

@test "-q: errors only" {
    foreign_hold x 300
    try run -q -n x -- echo ran
    assert_success
    assert_output ran
    assert_equal "$stderr" ""
    run -127 --separate-stderr rlock run -q -n x -- no-such-command
    assert_failure 127
    assert_message
}

@test "--log json: one object a line" {
    foreign_hold x 300
    run -127 --separate-stderr rlock run --log json -v -n x -- no-such-command
    assert_failure 127
    printf '%s\n' "$stderr" >lines
    run python3 -c '
import datetime, json
events = [json.loads(line) for line in open("lines")]
assert len(events) >= 2, events
for event in events:
    datetime.datetime.strptime(event["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
    assert event["level"] in ("error", "warning", "info", "debug"), event
    assert event["message"] and not event["message"].startswith("rlock:"), event
assert any(event["level"] == "error" and "no-such-command" in event["message"] for event in events)
assert any(event["event"] == "waiting" and event["name"] == "x" for event in events)
assert any(event["event"] == "acquired" and event["token"] == 1 for event in events)
'
    assert_success
}

@test "an error in --log json is an object, too" {
    try run --log json -n x --lease nonsense -- true
    assert_failure 64
    run python3 -c 'import json, sys; assert json.loads(sys.argv[1])["level"] == "error"' "$stderr"
    assert_success
}

# --- what belongs to one kind ------------------------------------------------------------------

@test "fair, read, write: run's options, and one of their own" {
    assert_usage --supersede -- run -n x --supersede -- touch ran
    assert_usage --prefer -- read -n x --prefer readers -- touch ran
    assert_usage --prefer readers writers -- write -n x --prefer nobody -- touch ran
    assert_usage --permits -- fair -n x --permits 3 -- touch ran
    local kind
    for kind in fair read write; do
        assert_usage name -- "$kind" -- touch ran
        assert_usage command "$kind" -- "$kind" -n x
        assert_usage --lease 100ms -- "$kind" -n x -l 1ms -- touch ran
        try "$kind" -n x -n y -- sh -c 'echo "$RLOCK_KIND"'
        assert_success
        assert_output "$kind"$'\n'"$kind"
        redis FLUSHALL
    done
}

@test "sem: numbers that can't be" {
    local bad
    for bad in 0 -1 '' two 1.5 1000000001 9999999999 18446744073709551617; do
        assert_usage --permits 1000000000 -- sem -n x "--permits=$bad" -- touch ran
        assert_usage --take 10000 -- sem -n x "--take=$bad" -- touch ran
    done
    assert_usage --take 10000 -- sem -n x --take 10001 -- touch ran
    assert_usage --resize 1000000000 -- sem -n x --resize 0
    assert_usage --take 2 -- sem -n x --permits 2 --take 3 -- touch ran
    assert_keys
}

@test "sem: what does not go together" {
    assert_usage -n -- sem -n x -n y --permits 1 -- touch ran
    assert_usage command -- sem -n x --permits 1
    assert_usage --resize command -- sem -n x --resize 2 -- touch ran
    assert_usage --resize command -- sem -n x --resize 2 -c 'touch ran'
    assert_usage --resize --permits -- sem -n x --resize 2 --permits 2
    assert_usage --resize --take -- sem -n x --resize 2 --take 1
    assert_usage --resize --plain -- sem -n x --resize 2 --plain
    assert_usage --resize --min-hold -- sem -n x --resize 2 --min-hold 1s
    assert_usage --plain --min-hold -- sem -n x --plain --permits 1 --min-hold 1s -- touch ran
}

@test "latch: a command of it is needed, and only its own options" {
    assert_usage latch command -- latch
    assert_usage st set -- latch st -n x --count 1
    assert_usage 'latch frobnicate' -- latch frobnicate
    assert_usage --version -- latch --version
    assert_usage --count -- latch set -n x
    assert_usage --count 1000000000 -- latch set -n x --count 0
    assert_usage name -- latch set --count 1
    assert_usage -n -- latch set -n x -n y --count 1
    assert_usage command -- latch set -n x --count 1 -- touch ran
    assert_usage --by -- latch down -n x --by 0 -- touch ran
    assert_usage -n -- latch down -n x -n y -- touch ran
    assert_usage -n -- latch wait -n x -n y -- touch ran
    assert_usage --lease -- latch wait -n x --lease 3s -- touch ran
    assert_usage -c -- latch wait -n x -c 'touch ran' -- touch ran
    assert_keys
}

@test "latch: help of the group and of its commands" {
    local form
    for form in 'help latch' 'latch --help' 'latch -h'; do
        # shellcheck disable=SC2086
        try $form
        assert_success
        assert_line --regexp '^  set '
        assert_line --regexp '^  down '
        assert_line --regexp '^  wait '
    done
    for form in 'help latch down' 'latch down --help' 'latch down -h'; do
        # shellcheck disable=SC2086
        try $form
        assert_success
        assert_output --partial 'rlock latch down -n NAME'
        assert_output --partial --always
    done
    assert_usage wiat wait -- help latch wiat
    assert_usage many -- help latch wait wait
}

@test "what is said of one lock can't stand in a config file: 78" {
    local line
    for line in 'supersede = yes' 'prefer = readers' 'permits = 3' 'take = 2' 'plain = yes' 'resize = 3' \
        'count = 3' 'by = 2' 'always = yes' 'must-exist = yes'; do
        echo "$line" >"$RLOCK_CONFIG"
        try run -n x -- touch ran
        assert_failure 78
        assert_message
        assert_stderr_has "$RLOCK_CONFIG:1" "${line%% *}"
        assert_file_not_exist ran
    done
}

@test "a config file for a fleet stands in no kind's way" {
    printf '%s\n' 'min-hold = 2s' 'lease = 20s' 'on-lost = warn' 'wait = 3s' >"$RLOCK_CONFIG"
    try sem -n s --plain --permits 1 -- true
    assert_success
    assert_equal "$(redis GET s)" 1
    try latch set -n l --count 1
    assert_success
    try latch down -n l -- true
    assert_success
    try latch wait -n l -- true
    assert_success
}

@test "-n=X is no name, and no other value either: 64, and what is right" {
    assert_usage "'-n foo'" "'--name==foo'" -- run -n=foo -- touch ran
    assert_usage "'-n foo'" -- run -qxn=foo -- touch ran
    assert_usage "'-w 5s'" -- acquire run -n x -w=5s
    assert_usage "'-l 5s'" -- run -n x -l=5s -- touch ran
    assert_usage "'-c true'" -- run -n x -c=true
    assert_usage 'give -s URL' -- run -n x -s=redis://alice:sesame@h -- touch ran
    refute_regex "$stderr" sesame
    try run --name==foo -- printenv RLOCK_NAME
    assert_output '=foo'
    try run -n '=foo' -- printenv RLOCK_NAME
    assert_output '=foo'
    try run --name =foo -w0 -- printenv RLOCK_NAME
    assert_output '=foo'
}

@test "-h among other arguments is no help, and runs nothing: 64; alone it is" {
    local words
    for words in 'run -h 127.0.0.1 -p 6379 -- touch ran' 'run -n x -h -- touch ran' 'run -n x -xh -- touch ran' \
        'status -h 127.0.0.1' 'status x -h' 'latch set -h h -n x --count 1' '-h 127.0.0.1 run' 'latch -h x'; do
        # shellcheck disable=SC2086
        assert_usage 'unexpected -h' '--server URL' -- $words
    done
    for words in '-h' 'run -h' 'latch -h' 'latch set -h' 'status -h' 'run -n x --help -- touch ran'; do
        # shellcheck disable=SC2086
        try $words
        assert_success
        assert_output --partial Usage
        assert_equal "$stderr" ''
    done
    try run -n x -- echo -h
    assert_output -- -h
    assert_file_not_exist ran
}

@test "an option of other commands: which have it" {
    assert_usage "unknown option '--supersede': it goes with rlock fair, not with rlock run" -- run --supersede -n x -- touch ran
    assert_usage "it goes with rlock run or rlock fair, not with rlock read" -- read --preempt -n x -- touch ran
    assert_usage "it goes with rlock acquire run, not with rlock run" -- run --while 1 -n x -- touch ran
}

@test "help has the options of servers and of messages under headings of their own" {
    local headings
    try break --help
    assert_success
    headings=$(grep -n '^[A-Z][a-z]*:$' <<<"$output" | cut -d : -f 2 | tr '\n' ' ')
    assert_equal "$headings" 'Options Server Messages '
}
