#!/usr/bin/env bats
# examples.bats: the CI jobs of man/examples hold their lock over their steps, and give it back whatever happens in
# between; its manifests are what Kubernetes knows, and their containers do what their comments say.

load ../../lib/rlock

setup() {
    rlock_setup
    script build.sh 'echo built >>log'
    script deploy.sh 'rlock run -xq -n deploy -- true || echo "deployed alone" >>log'
    mkdir secret
    echo sesame >secret/password
}

script() { # NAME COMMANDS
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}

job() { # FILE
    rm -f log deploy.lock
    run timeout $((60 * SLOW)) python3 "$TOOLS/ci_job.py" "$PROJECT/man/examples/$1"
}

# each_job STATUS LOG [TEXT]: of each CI, ends so, having logged that, and says the text.
each_job() {
    local file
    for file in gitlab-ci.yml github-actions.yml; do
        job "$file"
        assert_equal "$file: $status $(cat log 2>/dev/null)" "$file: $1 $2"
        assert_output --partial "${3-}"
    done
}

@test "a job that succeeds has the lock to itself, and gives it back; so does one of which a step fails" {
    each_job 0 $'built\ndeployed alone'
    script deploy.sh 'echo tried >>log; exit 3'
    each_job 1 $'built\ntried'
    assert_no_keys
}

@test "a lock that cannot be taken: no step runs, and nothing is given back" {
    redis SET deploy text
    each_job 1 ''
    refute_output --partial release
    assert_keys deploy
}

@test "a lock that was lost in between: what must not run without it does not" {
    script build.sh "redis-cli -s $BATS_FILE_TMPDIR/main/sock FLUSHALL"
    each_job 1 '' 'deploy is not ours any more'
}

@test "a runner that dies: the lease is the net" {
    script build.sh "kill -KILL \$(cut -d ' ' -f 4 /proc/\$PPID/stat) \$PPID"
    for file in gitlab-ci.yml github-actions.yml; do
        redis FLUSHALL
        job "$file"
        assert_failure
        (($(redis PTTL deploy) > 3000000)) || fail "the lock has no lease"
    done
}

# --- pods ----------------------------------------------------------------------------------------

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

@test "a cron job: again after a failure; who comes second, at the same time or just after, succeeds without it" {
    local first
    server_start guarded --requirepass sesame
    script report.sh 'exit 3'
    run -3 pod cronjob
    script report.sh 'echo report >>log; $SECTION --until let-go'
    start_pod cronjob
    first=$pid
    wait_until 10 test -s log
    start_pod cronjob
    wait_until 10 grep -q 'waiting .*for report: held by' cronjob.out
    : >let-go
    reaps 0 "$first"
    reaps 0 "$pid"
    run -0 pod cronjob
    assert_output --partial 'not running report: '
    assert_equal "$(cat log)" report
}

@test "a deployment: one pod of two runs the scheduler; it is deleted, and the other takes over" {
    local first second
    server_start guarded --requirepass sesame
    script scheduler.sh 'echo begin >>log; trap "echo end >>log; exit 0" TERM; while :; do sleep 0.02; done'
    start_pod deployment
    first=$pid
    wait_until 10 test -s log
    start_pod deployment
    second=$pid
    wait_until 10 grep -q waiting deployment.out
    assert_equal "$(cat log)" begin
    kill -TERM "$first"
    reaps 0 "$first"
    wait_until 10 eval '[[ $(paste -sd " " log) == "begin end begin" ]]'
    kill -TERM "$second"
    reap "$second"
    assert_equal "$(REDISCLI_AUTH=sesame redis_on guarded EXISTS scheduler)" 0
}
