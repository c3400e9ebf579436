#!/usr/bin/env bats
# systemd.bats: what is told to systemd (NOTIFY_SOCKET); and the example units, as they are installed: systemd accepts
# them, and what they start does what they say.
# shellcheck disable=SC2016,SC2046,SC2086 # scripts, and command lines without quotes

load ../../lib/rlock

setup_file() {
    rlock_setup_file
    cmake --install "${RLOCK_BUILD_DIR:-$PROJECT/build}" --prefix "$BATS_FILE_TMPDIR/prefix" >"$BATS_FILE_TMPDIR/install.log"
}

# The units, with the program and the commands of this test in the place of the machine's.
setup() {
    rlock_setup
    mkdir units sbin
    cp "$BATS_FILE_TMPDIR"/prefix/share/doc/rlock/examples/systemd/* units
    sed -i "s|\([='\"]\)rlock |\1$RLOCK |; s|/usr/local/sbin|$PWD/sbin|" units/*
    printf '#!/bin/sh\necho ran\n' >sbin/backup
    printf '#!/bin/sh\n: >"$WHO"\nexec sleep 60\n' >sbin/scheduler
    chmod +x sbin/*
}

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
    reaps 76 "$pid"
    wait_until 5 grep -qx 'STOPPING=1 STATUS=lost x; stopping the command' told
    start run -q -l "$(ms 600)" --on-lost warn -n y -- sh -c 'until [ -e end ]; do sleep 0.01; done'
    wait_until 5 grep -q 'holding y' told
    redis DEL y
    wait_until 5 grep -qx 'STATUS=lost y; the command runs on' told
    : >end
    reaps 76 "$pid"
}

@test "a holder's words are a part of STATUS=: no line of their own, no READY=1" {
    start run -n x -c $': >held; until [ -e let-go ]; do sleep 0.02; done\nREADY=1\nWATCHDOG=trigger\n\xe2\x80\xa8 \x9b'
    holder=$pid
    wait_until 10 test -e held
    listen "$PWD/notify"
    run -75 rlock run -q -w "$(ms 100)" -n x -- true
    wait_until 5 grep -q '^STATUS=waiting .*done?READY=1?WATCHDOG=trigger?? ?$' told
    refute grep -E '(^| )(READY|WATCHDOG)=' told
    : >let-go
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

# --- the units -----------------------------------------------------------------------------------

# setting UNIT KEY [INSTANCE]: what a unit sets, %i being INSTANCE.
setting() {
    sed -n "s/^$2=//p" "units/$1" | sed "s/%i/${3-}/g"
}

# standby WHO: the service rlock@scheduler on one more machine; pid is its process.
standby() {
    WHO=$1 env --default-signal=INT,QUIT \
        $(setting rlock@.service ExecStart scheduler) 2>"$1.err" </dev/null 3>&- 4>&- &
    pid=$!
}

@test "systemd-analyze verify accepts them" {
    command -v systemd-analyze >/dev/null || skip "no systemd-analyze: install the package systemd"
    local verify=(systemd-analyze verify --man=no --recursive-errors=no)
    printf '[Service]\nExecStart=/bin/true\n' >units/right.service
    run "${verify[@]}" units/right.service
    ((status == 0)) || skip "needs the right to run systemd-analyze: $output"
    run "${verify[@]}" units/rlock@scheduler.service units/rlock-backup.{service,timer} units/rlock-local.service \
        units/rlock-prometheus.{service,timer}
    assert_success
    refute_output --partial rlock
}

@test "hot standby: one is ready, the other waits; it takes over when the first is stopped" {
    local first
    listen "$PWD/notify"
    standby first
    first=$pid
    wait_until 10 test -e first
    wait_until 5 grep -qx 'READY=1 STATUS=holding scheduler' told
    standby second
    wait_until 10 grep -q '^STATUS=waiting .*for scheduler: held by ' told
    assert_file_not_exist second
    kill -TERM "$first"
    reaps "$(setting rlock@.service SuccessExitStatus)" "$first"
    wait_until 10 test -e second
    wait_until 5 bash -c '(($(grep -cx "READY=1 STATUS=holding scheduler" told) == 2))'
    kill -TERM "$pid"
}

@test "the timer's job: the next machine runs what has failed on one, and what has succeeded is not run again" {
    local command backup
    read -ra command <<<"$(setting rlock-backup.service ExecStart)"
    backup=$(<sbin/backup)
    printf '#!/bin/sh\nexit 3\n' >sbin/backup
    run -3 "${command[@]}"
    echo "$backup" >sbin/backup
    run -0 --separate-stderr "${command[@]}"
    assert_output ran
    run -0 --separate-stderr "${command[@]}"
    assert_output ""
    assert_file_exists units/rlock-backup.timer # it starts the service of its own name
}

# write_metrics: what the unit starts, as systemd would read it.
write_metrics() {
    local command
    command=$(sed -n '/^ExecStart=/,/[^\\]$/p' units/rlock-prometheus.service | sed 's/\\$//' | tr -d '\n')
    command=${command#ExecStart=}
    command=${command/'/usr/share/doc/rlock'/"$PROJECT/man"}
    run sh -c "${command//\$\$/\$}"
}

# metrics NAME...: the samples of each, as the parser of Prometheus's own library reads them.
metrics() {
    run -0 /usr/bin/python3 -c 'import sys
from prometheus_client.parser import text_string_to_metric_families as parse
found = {family.name: [(*sample.labels.values(), sample.value) for sample in family.samples] for family in parse(sys.stdin.read())}
print(*(found.get(f"rlock_{name}") for name in sys.argv[1:]))' "$@" <rlock.prom
}

@test "metrics for Prometheus, of each kind of state" {
    local odd='a"b\c'
    hold "$odd"
    start run -q -n "$odd" -- true
    rlock acquire sem -n s --permits 5 --take 2
    rlock latch set -n l --count 3
    run -3 rlock run --once-per 0.001 -n o -- sh -c 'exit 3'
    wait_until 5 eval 'rlock status --json | grep -q "\"position\":1"'
    write_metrics
    assert_success
    metrics up held
    assert_output --regexp "^\[\(1\.0,\)\] .*\('a\"b\\\\\\\\c', 1\.0\)"
    metrics permits permits_available latch_remaining last_run_exit_status last_success_timestamp_seconds
    assert_output "[('s', 5.0)] [('s', 3.0)] [('l', 3.0)] [('o', 3.0)] None"
    metrics held_by
    assert_output --partial "('s', '$(uname -n)', '$(id -un)', 1.0)"
    metrics held_since_timestamp_seconds waiting_since_timestamp_seconds
    assert_output --regexp "\('s', [0-9]{10}\.0\).*\] \[\('a\"b.*', [0-9]{10}\.0\)\]"
    let_go "$odd"
    reap "$holder"
    reap "$pid"
}

@test "metrics for Prometheus: a file that is complete, also when the server is away; what is incomplete is none" {
    RLOCK_SERVER=unix://$PWD/none write_metrics
    assert_failure 69
    assert_file_contains rlock.prom '^rlock_up 0$'
    assert_file_not_exist rlock.prom.new
    ln -s /dev/full rlock.prom.new
    write_metrics
    assert_failure 2
    assert_file_contains rlock.prom '^rlock_up 0$'
}

@test "local: in a unit of its own: it is started, left alone, and found by its PID file" {
    local command pid
    command=$(setting rlock-local.service ExecStart)
    assert_equal "$(dirname "$(setting rlock-local.service PIDFile)")" /run/rlock
    run -0 --separate-stderr ${command/local:/local:$PWD/l}
    assert_equal "$output$stderr" ""
    pid=$(cat "l/$(basename "$(setting rlock-local.service PIDFile)")")
    run -0 --separate-stderr ${command/local:/local:$PWD/l}
    kill "$pid"
    wait_until 5 ended "$pid"
}
