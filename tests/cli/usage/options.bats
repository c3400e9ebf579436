#!/usr/bin/env bats
# options.bats: what the options come to, and the help about them. How they are read, and all that can be wrong with
# them, is in unit/options.
# shellcheck disable=SC2086 # rows of words

load ../../lib/rlock

@test "help: on standard output, status 0, no server asked" {
    local form before
    before=$(connections)
    for form in help --help -h 'help run' 'run --help' 'run -h' 'run -n x --help -- touch ran'; do
        try $form
        assert_success
        assert_equal "$stderr" ""
        assert_output --partial "rlock run"
    done
    assert_equal "$(connections)" $((before + 1))
    assert_file_not_exist ran
}

@test "64: words that are no command: what they lead to, or how a command is run" {
    assert_usage "unknown command 'ls': did you mean 'rlock status'?" -- ls
    assert_usage "unknown command 'flock': did you mean 'rlock run'?" -- flock -n x -- touch ran
    assert_usage "'rlock run --timeout'" -- timeout 5 touch ran
    assert_usage "'rlock --version'" -- version
    assert_usage "'rlock status'" -- help ls
    assert_usage "unknown command 'deploy': to run one under a lock: 'rlock run -n NAME -- COMMAND'" -- deploy touch ran
    assert_usage "unknown command: to run one" -- /var/lock/x touch ran
    assert_usage "unknown command 'latch x': see 'rlock help latch'" -- latch x
    assert_usage --version -- latch --version
    assert_usage 'unexpected -h' -- -h 127.0.0.1 run
    assert_usage 'unexpected -h' -- latch -h x
    assert_usage run -- help rnu
    assert_usage wiat wait -- help latch wiat
    assert_usage many -- help latch wait wait
    assert_usage "unknown option '--timeout': did you mean '--wait'?" -- acquire run --timeout 5 -n x
    assert_usage "unknown option '--while' in the place of a command: options follow it" -- acquire --while 1 run -n x
    assert_usage "unknown option '--hepl': did you mean '--help'?" -- --hepl
}

@test "64: a URL that cannot be read: how one is written, and not cut as a password would be" {
    assert_usage 'as in redis://HOST:6379/0' -- run -s redis:// -n x -- touch ran
    assert_usage 'as in sentinel://HOST:26379,HOST2/NAME' -- run -s sentinel:///main -n x -- touch ran
    assert_usage 'as in sentinel://HOST:26379,HOST2/NAME' -- run -s sentinel://h -n x -- touch ran
    assert_usage 'as in cluster://HOST:6379,HOST2' -- run -s cluster:// -n x -- touch ran
    assert_usage 'leave out /DB' -- run -s cluster://h/1 -n x -- touch ran
}

@test "a full disk on standard output is a failure, whatever is printed" {
    local words
    for words in --version help 'status x' doctor 'acquire run -n x'; do
        run --separate-stderr bash -c '"$0" "$@" >/dev/full' "$RLOCK" $words
        assert_equal "$words: $status" "$words: 71"
        assert_stderr_has 'No space left'
    done
    assert_no_keys
}

@test "a config file for a fleet stands in no kind's way" {
    printf '%s\n' 'min-hold = 2s' 'lease = 20s' 'on-lost = warn' 'wait = 3s' 'replicas = 0' 'replica-timeout = 2s' \
        'tls-ca = /ca.pem' 'tls-cert = /c.pem' 'tls-key = /k.pem' 'fsync = no' 'tls-name = redis.example' \
        'tls-insecure = no' >"$RLOCK_CONFIG"
    rlock sem -n s --plain --permits 1 -- true
    assert_equal "$(redis GET s)" 1
    rlock sem -n s --resize 2
    rlock latch set -n l --count 1
    rlock latch down -n l -- true
    rlock latch wait -n l -- true
}
