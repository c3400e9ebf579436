#!/usr/bin/env bats
# ci_jobs.bats: the CI jobs of man/examples/ hold their lock over their steps, and give it back whatever
# happens in between.

load ../../lib/rlock

setup() {
    rlock_setup
    script build.sh 'echo built >>log'
    script deploy.sh 'rlock run -xq -n deploy -- true || echo "deployed alone" >>log'
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
