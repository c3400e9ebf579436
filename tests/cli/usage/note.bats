#!/usr/bin/env bats
# note.bats: what --note, or the CI job, says of who holds a lock: to those who wait, and in status. Which events of the
# log have it: log.bats.

load ../../lib/rlock
load ../../lib/status

job=https://gitlab.example/group/project/-/jobs/7

# assert_note TEXT: of who holds x.
assert_note() {
    see x
    assert_seen 'v[0]["holders"][0]["note"]' "${1:-None}"
}

@test "those who wait are told, also by status and break; where nobody has a note all is as before" {
    hold x
    refute grep NOTE <(rlock status x)
    assert_note ''
    redis HVALS 'rlock_info:{x}' | grep -v note
    let_go x
    reap "$holder"
    hold x --note "ticket 42"
    try run -w "$(ms 100)" -n x -- true
    assert_failure 75
    assert_equal "$(grep -c '^rlock: .* x: held by .* (ticket 42), sh -c ' <<<"$stderr")" 2
    try run --log json -x -n x --note ours -- true
    assert_stderr_has '"event":"busy"' '"holder_note":"ticket 42"'
    log=waiter start fair -n x --note second -- true
    wait_until 5 waits_in_line 1
    see x
    assert_seen 'v[0]["holders"][0]["note"], v[0]["waiters"][0]["note"]' "('ticket 42', 'second')"
    run -0 --separate-stderr rlock status x
    assert_line --index 0 --regexp ' COMMAND +NOTE$'
    assert_line --index 1 --regexp ' ticket 42$'
    assert_line --index 2 --regexp ' second$'
    try break --force x
    assert_stderr_has '(ticket 42)'
    reap "$holder"
    reap "$pid"
}

@test "every kind, and a lock without a command; what --min-hold keeps" {
    local kind handle
    for kind in fair read write 'sem --permits 1'; do
        # shellcheck disable=SC2086 # several words
        handle=$(rlock acquire $kind -n x -l 1m --note "a $kind")
        assert_note "a $kind"
        rlock release "$handle"
        redis FLUSHALL
    done
    rlock run -n x --min-hold 1m --note 'kept back' -- true
    assert_note 'kept back'
    ends_saying 75 '(kept back)' -- run -x -n x -- true
}

@test "without --note it is the page of the CI job" {
    local github=(GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=me/it GITHUB_RUN_ID=123) given=()
    noted() { # EXPECTED VARIABLE=VALUE...: with the options of the array given
        redis FLUSHALL
        env "${@:2}" "$RLOCK" acquire run -n x "${given[@]}"
        assert_note "$1"
    }
    noted "$job" "CI_JOB_URL=$job" BUILD_URL=https://jenkins/1 "${github[@]}"
    noted https://github.com/me/it/actions/runs/123 BUILD_URL=https://jenkins/1 "${github[@]}"
    noted https://jenkins/1 BUILD_URL=https://jenkins/1 "${github[@]:0:2}"
    noted https://jenkins/job/a@2/1 BUILD_URL=https://me@jenkins/job/a@2/1 # a login is before the host
    noted '' CI_JOB_URL= BUILD_URL=
    # One that cannot be a note is none.
    noted https://jenkins/1 CI_JOB_URL=$'https://a\nb' BUILD_URL=https://jenkins/1
    noted '' "CI_JOB_URL=https://$(printf 'x%.0s' {1..257})"
    noted '' "CI_JOB_URL=https://$(printf 'x%.0s' {1..3000})"
    echo 'note = of this machine' >"$RLOCK_CONFIG"
    noted 'of this machine' "CI_JOB_URL=$job"
    given=(--note mine)
    noted mine "CI_JOB_URL=$job"
    given=(--note '')
    noted '' "CI_JOB_URL=$job"
}

@test "preempted and superseded lines say which job the other is; 79" {
    start run -n x --preemptible -- sh -c 'touch ready; exec sleep 60'
    wait_until 10 test -e ready
    rlock run -n x --preempt --note "$job" -- true
    reaps 79 "$pid"
    grep -qE "^rlock: stopping the command of x: .* pid [0-9]+ \($job\) asks for the lock$" err || fail "$(cat err)"
    foreign_hold x 60000
    start fair -n x --supersede -- touch ran
    wait_until 10 waiters x 1
    run -75 rlock fair -n x --supersede --note "$job" -w 200ms -- true
    reaps 79 "$pid"
    grep -qE "^rlock: cannot take x: superseded by .* pid [0-9]+ \($job\)$" err || fail "$(cat err)"
}
