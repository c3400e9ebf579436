#!/usr/bin/env bats
# notify.bats: what is told to systemd (NOTIFY_SOCKET). READY=1 when the lock is taken, and STATUS= while waiting: systemd.bats.
load ../../lib/rlock

listen() { # SOCKET
    helper python3 "$TOOLS/notified.py" "$1" told
    wait_until 5 grep -qs bound told
    export NOTIFY_SOCKET=$1
}

@test "STOPPING=1 when the lock is lost; with --on-lost warn only the status" {
    listen "$PWD/notify"
    start run -q -l "$(ms 600)" -n x -- sleep 60
    wait_until 5 grep -q READY told
    redis DEL x
    reap "$pid"
    assert_equal "$status" 76
    wait_until 5 grep -qx 'STOPPING=1 STATUS=lost x; stopping the command' told
    start run -q -l "$(ms 600)" --on-lost warn -n y -- sh -c 'until [ -e end ]; do sleep 0.01; done'
    wait_until 5 grep -q 'holding y' told
    redis DEL y
    wait_until 5 grep -qx 'STATUS=lost y; the command runs on' told
    : >end
    reap "$pid"
    assert_equal "$status" 76
}

@test "a holder's words are a part of STATUS=: no line of their own, no READY=1" {
    start run -n x -c $': >held; until [ -e let-go ]; do sleep 0.02; done\nREADY=1\nWATCHDOG=trigger\n\xe2\x80\xa8 \x9b'
    holder=$pid
    wait_until 10 test -e held
    listen "$PWD/notify"
    try run -q -w "$(ms 100)" -n x -- true
    assert_failure 75
    wait_until 5 grep -q '^STATUS=waiting .*done?READY=1?WATCHDOG=trigger?? ?$' told
    refute grep -E '(^| )(READY|WATCHDOG)=' told
    : >let-go
    reap "$holder" 5
}

@test "a status that is too long is cut; an abstract socket, also with the longest name" {
    local long
    long=$(printf 'ü%.0s' {1..256})
    listen "@$(printf 'n%.0s' {1..107})"
    rlock run -n "$long" -- true
    wait_until 5 grep -q '^READY=1 STATUS=holding üüü' told
    (($(wc -c <told) < 1100))
}

# as_unit LINE: what ExecStart=LINE of a service with a socket and a watchdog starts; web is ours.
as_unit() {
    printf '#!/bin/sh\necho "$LISTEN_PID $WATCHDOG_PID $$"\n' >web
    chmod +x web
    # shellcheck disable=SC2016 # for the shell there
    PATH=$PWD:$PATH run -0 bash -c 'export LISTEN_FDS=1 LISTEN_PID=$$ WATCHDOG_USEC=1000000 WATCHDOG_PID=$$; exec sh -c "exec $1"' - "$1"
    read -r listener watched web <<<"$output"
}

@test "LISTEN_PID and WATCHDOG_PID are not the command's, but with a line as the manual's" {
    local listener watched web line
    as_unit 'rlock run -n web -- web'
    [[ $listener != "$web" && $watched != "$web" ]]
    line=$(sed -n 's/^\.Dl ExecStart=//p' "$PROJECT/man/rlock-run.1" | sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\$\\\$/\$/g")
    as_unit "$line"
    assert_equal "$listener" "$web"
    as_unit "${line/LISTEN_PID/WATCHDOG_PID}"
    assert_equal "$watched" "$web"
}

@test "a socket that nobody reads, or whose path is too long, does no harm; the command keeps the variable" {
    local socket
    for socket in "/$(printf 'n%.0s' {1..200})" "$PWD/none"; do
        NOTIFY_SOCKET=$socket try run -n x -- printenv NOTIFY_SOCKET
        assert_equal "$status$stderr$output" "0$socket"
    done
}
