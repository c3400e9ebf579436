#!/usr/bin/env bats
# kubernetes.bats: the manifests of man/examples/kubernetes are what Kubernetes knows, and their containers do what
# their comments say.

load ../../lib/rlock

setup() {
    rlock_setup
    server_start guarded --requirepass sesame
    mkdir secret
    echo sesame >secret/password
}

script() { # NAME COMMANDS
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}

# pod NAME: its container, in the foreground.
pod() {
    timeout -s KILL $((60 * SLOW)) python3 "$TOOLS/pod.py" "$PROJECT/man/examples/kubernetes/$1.yaml" "$PWD/secret" \
        "$(server_url guarded)"
}

# start_pod NAME: in the background, as pid 1 of nothing; pid is its process.
start_pod() {
    python3 "$TOOLS/pod.py" "$PROJECT/man/examples/kubernetes/$1.yaml" "$PWD/secret" "$(server_url guarded)" \
        >>"$1.out" 2>&1 </dev/null 3>&- 4>&- &
    pid=$!
}

guarded() {
    REDISCLI_AUTH=sesame redis_on guarded "$@"
}

@test "a cron job: again after a failure; who comes second, at the same time or just after, succeeds without it" {
    local first
    script report.sh 'exit 3'
    run -3 pod cronjob
    script report.sh 'echo report >>log; until [ -e let-go ]; do sleep 0.02; done'
    start_pod cronjob
    first=$pid
    wait_until 10 test -s log
    start_pod cronjob
    wait_until 10 grep -q 'waiting .*for report: held by' cronjob.out
    : >let-go
    reap "$first"
    assert_equal "$status" 0
    reap "$pid"
    assert_equal "$status" 0
    run -0 pod cronjob
    assert_output --partial 'not running report: '
    assert_equal "$(cat log)" report
}

@test "a deployment: one pod of two runs the scheduler; it is deleted, and the other takes over" {
    local first second
    script scheduler.sh 'echo begin >>log; trap "echo end >>log; exit 0" TERM; while :; do sleep 0.02; done'
    start_pod deployment
    first=$pid
    wait_until 10 test -s log
    start_pod deployment
    second=$pid
    wait_until 10 grep -q waiting deployment.out
    assert_equal "$(cat log)" begin
    kill -TERM "$first"
    reap "$first"
    assert_equal "$status" 0
    wait_until 10 eval '[[ $(paste -sd " " log) == "begin end begin" ]]'
    kill -TERM "$second"
    reap "$second"
    assert_equal "$(guarded EXISTS scheduler)" 0
}
