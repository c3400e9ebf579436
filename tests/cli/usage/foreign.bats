#!/usr/bin/env bats
# foreign.bats: words of other programs lead to ours: flock(1), timeout(1), setlock, consul, etcdctl, redis-cli,
# docker, parallel's sem, ShedLock, CI systems. Nothing is run for them, and no server asked.

load ../../lib/rlock


@test "commands" {
    local word
    for word in ls list ps show who holders describe; do
        assert_usage "unknown command '$word': did you mean 'rlock status'?" -- "$word"
    done
    for word in lock flock setlock lckdo with-lock cronlock exec leader; do
        assert_usage "unknown command '$word': did you mean 'rlock run'?" -- "$word" -n x -- touch ran
    done
    assert_usage "'rlock run --no-wait'" -- run-one touch ran
    assert_usage "'rlock run --timeout'" -- timeout 5 touch ran
    assert_usage "'rlock status --watch'" -- watch -n x
    assert_usage "'rlock status --prometheus'" -- metrics
    assert_usage "'rlock --version'" -- version
    assert_usage "'rlock release'" -- unlock x
    assert_usage "'rlock break'" -- force-unlock x
    assert_usage "'rlock renew'" -- heartbeat x
    assert_usage "'rlock sem'" -- throttle -n x
    assert_usage "'rlock read'" -- shared x
    assert_usage "'rlock latch wait'" -- wait x
    assert_usage "'rlock latch wait'" -- latch await -n x
    assert_usage "'rlock acquire sem'" -- acquire semaphore -n x
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
    assert_usage "'-e': did you mean 'rlock run'?" -- fair -e -n x -- touch ran
    assert_usage "'--close': leave it out: " descriptors -- run --close -n x -- touch ran
    assert_usage "'-F': leave it out: " renew -- run -F -n x -- touch ran
}

@test "timeout(1), setlock, parallel's sem" {
    assert_usage "'-k': did you mean '--kill-after'?" -- run -k 5 -n x -- touch ran
    assert_usage "'--preserve-status': leave it out: rlock always exits as the command does" -- run --preserve-status -n x -- touch ran
    assert_usage "'--foreground': leave it out: " -- run --foreground -n x -- touch ran
    assert_usage "'-N': leave it out: " -- run -N -n x -- touch ran
    assert_usage "'-j': did you mean '--permits'?" -- sem -j 4 -n x -- touch ran
    assert_usage "'--id': did you mean '--name'?" -- sem --id x -- touch ran
    assert_usage "'--fg': leave it out: " -- sem --fg -n x -- touch ran
}

@test "consul, etcdctl" {
    assert_usage "'--child-exit-code': leave it out: rlock always exits as the command does" -- run --child-exit-code -n x -- touch ran
    assert_usage "'--pass-stdin': leave it out: " -- run --pass-stdin -n x -- touch ran
    assert_usage "'--monitor-retry': leave it out: " -- run --monitor-retry 3 -n x -- touch ran
    assert_usage "'--server'" -- run --endpoints https://u:S3CRET@h -n x -- touch ran
    refute_regex "$stderr" S3CRET
    assert_usage "'--tls-ca'" -- run --cacert f -n x -- touch ran
    assert_usage "'--tls-insecure'" -- run --insecure-skip-tls-verify -n x -- touch ran
    assert_usage "'--connect-timeout'" -- run --dial-timeout 5s -n x -- touch ran
    assert_usage "'--lease'" -- run --ttl 5s -n x -- touch ran
    assert_usage "'--min-ttl'" -- check --ttl 5s
    assert_usage "'--json'" -- status --write-out json
}

@test "redis-cli, docker, kubectl" {
    assert_usage "unknown option '-u': did you mean '--server'?" -- run -u redis://a -n x -- touch ran
    assert_usage "'RLOCK_PASSWORD in the environment'" -- run -a S3CRET -n x -- touch ran
    refute_regex "$stderr" S3CRET
    assert_usage "'--json'" -- status -o json
    assert_usage "'--watch'" -- status --follow
}

@test "ShedLock, CI systems" {
    assert_usage "'--lease'" -- run --lockAtMostFor 5m -n x -- touch ran
    assert_usage "'--min-hold'" -- run --lock-at-least-for 5m -n x -- touch ran
    assert_usage "'--preempt'" -- fair --cancel-in-progress -n x -- touch ran
    assert_usage "'rlock fair --supersede'" -- run --newest-first -n x -- touch ran
    assert_usage "'--note'" -- run --message text -n x -- touch ran
    assert_usage "'--name'" -- run --resource-group x -- touch ran
    assert_usage "'--take'" -- sem --quantity 2 -n x -- touch ran
}

@test "--timeout of a command that has none limits the wait" {
    assert_usage "unknown option '--timeout': did you mean '--wait'?" -- acquire run --timeout 5 -n x
    assert_usage "what limits a wait is --wait" -- latch wait --timeout=5 -n x
    assert_usage "'--connect-timeout'" -- status --timeout 5 # which has no --wait
    assert_usage "'--wait'" -- acquire fair --max-wait 5s -n x
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
