#!/usr/bin/env bats
# suspend.bats: leases and limits are counted on CLOCK_BOOTTIME, which goes on while a machine sleeps. In a time
# namespace this clock is a day ahead of CLOCK_MONOTONIC, as it is after such a sleep: who reads the one and waits
# by the other is early, late, or waits for ever.

load ../../lib/rlock

setup() {
    rlock_setup
    local up
    up=$(unshare --time --boottime 86400 cut -d . -f 1 /proc/uptime) || skip "needs the right to make a time namespace"
    ((up - $(cut -d . -f 1 /proc/uptime) > 86000)) || fail "its clock is not ahead"
}

# slept ARG...: rlock, as after a sleep of a day; as by try.
slept() {
    run --separate-stderr timeout -s KILL $((60 * SLOW)) unshare --time --boottime 86400 "$RLOCK" "$@"
    printf '%s\n' "status $status: rlock $*" "$stderr"
}

@test "--timeout: SIGTERM neither at once nor late, by rlock's clock and the guardian's timer" {
    slept run --timeout "$(ms 500)" -n x -- sh -c 'trap "echo told; exit" TERM; echo began; while :; do sleep 0.02; done'
    assert_equal "$status" 124
    assert_output $'began\ntold' # rlock itself, which looks after the guardian, has SIGKILL only
}

@test "one lease: the command is dead before its end, by the guardian's timer" {
    local began
    began=$(now_ms)
    slept run -l "$(ms 3000)" --no-renew -n x -- \
        bash -c 'while :; do echo "${EPOCHREALTIME/[.,]/}" >>beats; read -rt 0.02 <> <(:) || true; done'
    assert_equal "$status" 76
    (($(now_ms) - began < 20000 * SLOW)) || fail "it lived on"
    spent=$((($(tail -n 1 beats) - $(head -n 1 beats)) / 1000))
    ((spent > 200 && spent < 3000 * SLOW)) || fail "it lived for $spent ms"
}

@test "the lease is renewed in time, by the keeper's timer" {
    slept run -l "$(ms 1000)" -n x -- sh -c 'sleep "$0"; exit 5' "$((3 * SLOW))"
    assert_equal "$status" 5
    assert_equal "$stderr" ""
}

# Between vfork and exec the guardian stands still.
@test "an exec that takes longer than the limit is ended by the command's own timer" {
    command -v strace >/dev/null || skip "needs strace"
    printf '#!/bin/sh\n: >ran\n' >slow
    chmod +x slow
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    run --separate-stderr unshare --time --boottime 86400 strace -f -qq -o trace -e trace=execve -P "$PWD/slow" \
        -e inject=execve:delay_enter=$((1000000 * SLOW)) \
        "$RLOCK" run -n x --timeout "$(ms 300)" --kill-after "$(ms 100)" -- "$PWD/slow"
    printf '%s\n' "status $status" "$stderr"
    assert_equal "$status" 124
    assert_stderr_has 'SIGKILL did' # late, the guardian's SIGTERM would have done
    assert_file_not_exist ran
}
