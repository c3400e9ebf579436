#!/usr/bin/env bats
# options.bats: what the options of `rlock run` mean, and the help about them.

load ../lib/rlock

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
        try run -n "$name" -- sh -c 'printf %s "$RLOCK_NAME"'
        assert_success
        assert_output "$name"
        assert_equal "$(redis GET "redisson_lock_token:{$name}")" 1
    done
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
