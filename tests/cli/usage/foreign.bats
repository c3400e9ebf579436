#!/usr/bin/env bats
# foreign.bats: words of flock(1), timeout(1), setlock, consul lock and etcdctl lock lead to ours. Nothing is run for
# them, and no server is asked.

load ../../lib/rlock


@test "commands" {
    local word
    for word in ls list; do
        assert_usage "unknown command '$word': did you mean 'rlock status'?" -- "$word"
    done
    for word in lock flock setlock; do
        assert_usage "unknown command '$word': did you mean 'rlock run'?" -- "$word" -n x -- touch ran
    done
    assert_usage "'rlock run --timeout'" -- timeout 5 touch ran
    assert_usage "'rlock --version'" -- version
    assert_usage "'rlock release'" -- unlock x
    assert_usage "'rlock status'" -- help ls
}

@test "what is no word of anybody's: how a command is run under a lock" {
    assert_usage "unknown command 'deploy': to run one under a lock: 'rlock run -n NAME -- COMMAND'" -- deploy touch ran
    assert_usage "unknown command: to run one" -- /var/lock/x touch ran
    assert_usage "unknown command 'latch x': see 'rlock help latch'" -- latch x
}

@test "flock(1)" {
    assert_usage "unknown option '--nonblock': did you mean '--no-wait'?" -- run --nonblock -n x -- touch ran
    assert_usage "'rlock read'" -- run --shared -n x -- touch ran
    assert_usage "'--exclusive': leave it out: that is what 'rlock run' does" -- run --exclusive -n x -- touch ran
    assert_usage "'--exclusive': did you mean 'rlock run'?" -- fair --exclusive -n x -- touch ran
    assert_usage "'--close': leave it out: " descriptors -- run --close -n x -- touch ran
    assert_usage "'-F': leave it out: " renew -- run -F -n x -- touch ran
}

@test "timeout(1), setlock" {
    assert_usage "'-k': did you mean '--kill-after'?" -- run -k 5 -n x -- touch ran
    assert_usage "'--preserve-status': leave it out: rlock always exits as the command does" -- run --preserve-status -n x -- touch ran
    assert_usage "'--foreground': leave it out: " -- run --foreground -n x -- touch ran
    assert_usage "'-N': leave it out: " -- run -N -n x -- touch ran
}

@test "consul lock, etcdctl lock" {
    assert_usage "'--child-exit-code': leave it out: rlock always exits as the command does" -- run --child-exit-code -n x -- touch ran
    assert_usage "'--pass-stdin': leave it out: " -- run --pass-stdin -n x -- touch ran
    assert_usage "'--server'" -- run --endpoints https://u:S3CRET@h -n x -- touch ran
    refute_regex "$stderr" S3CRET
    assert_usage "'--tls-ca'" -- run --cacert f -n x -- touch ran
    assert_usage "'--lease'" -- run --ttl 5s -n x -- touch ran
    assert_usage "'--min-ttl'" -- check --ttl 5s
    assert_usage "'--server'" -- run --user root:S3CRET -n x -- touch ran
    refute_regex "$stderr" S3CRET
}

@test "--timeout of a command that has none limits the wait" {
    assert_usage "unknown option '--timeout': did you mean '--wait'?" -- acquire run --timeout 5 -n x
    assert_usage "what limits a wait is --wait" -- latch wait --timeout=5 -n x
    assert_usage "'--connect-timeout'" -- status --timeout 5 # which has no --wait
    assert_usage "'--wait'" -- acquire fair --try 5s -n x
}

@test "a long option with one dash, as in Go's programs, is not letters: -no-wait is not the name o-wait" {
    assert_usage "unknown option '-no-wait': did you mean '--no-wait'?" -- run -no-wait -n x -- touch ran
    assert_usage "'-name': did you mean '--name'?" -- run -name=x -- touch ran
    assert_usage "'-command': did you mean '--command'?" -- run -n x -command='touch ran'
    assert_usage "'-verbose': did you mean '--verbose'?" -- run -verbose -n x -- touch ran
    assert_usage "'-child-exit-code': leave it out: " -- run -child-exit-code -n x -- touch ran
    assert_usage "'-http-addr': did you mean '--server'?" -- run -http-addr=S3CRET -n x -- touch ran
    refute_regex "$stderr" S3CRET
    assert_usage "'-json': did you mean '--json'?" -- status -json
    assert_usage "'-help'" -- status -help
}

@test "letters are letters, and what is the command's is left alone" {
    try run -xqnname -- sh -c 'printf %s "$RLOCK_NAME"'
    assert_success
    assert_output name
    try run -n x -v -- echo -name -no-wait
    assert_success
    assert_output -- '-name -no-wait'
    try run -n x -c 'echo "$1"' </dev/null
    assert_success
}
