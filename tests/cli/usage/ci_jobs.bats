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

@test "a job that succeeds has the lock to itself, and gives it back" {
    local file
    for file in gitlab-ci.yml github-actions.yml; do
        job "$file"
        assert_success
        assert_equal "$(cat log)" $'built\ndeployed alone'
        assert_no_keys
    done
}

@test "a step that fails: the job fails, and the lock is given back" {
    local file
    script deploy.sh 'echo tried >>log; exit 3'
    for file in gitlab-ci.yml github-actions.yml; do
        job "$file"
        assert_failure 1
        assert_equal "$(cat log)" $'built\ntried'
        assert_no_keys
    done
}

@test "a lock that cannot be taken: no step runs, and nothing is given back" {
    local file
    redis SET deploy text
    for file in gitlab-ci.yml github-actions.yml; do
        job "$file"
        assert_failure 1
        refute_output --partial release
        assert_file_not_exist log
        assert_keys deploy
    done
}

@test "a lock that was lost in between: what must not run without it does not" {
    local file
    script build.sh "redis-cli -s $BATS_FILE_TMPDIR/main/sock FLUSHALL"
    for file in gitlab-ci.yml github-actions.yml; do
        job "$file"
        assert_failure 1
        assert_output --partial "deploy is not ours any more"
        assert_file_not_exist log
    done
}

@test "a runner that dies: the lease is the net" {
    local file
    script build.sh "kill -KILL \$(cut -d ' ' -f 4 /proc/\$PPID/stat) \$PPID"
    for file in gitlab-ci.yml github-actions.yml; do
        redis FLUSHALL
        job "$file"
        assert_failure
        (($(redis PTTL deploy) > 3000000)) || fail "the lock has no lease"
    done
}
