#!/usr/bin/env bats
# watch.bats: `rlock status --watch`: what stands on a terminal of a given size, and how it is drawn; elsewhere
# one table, or array, after the other.
# shellcheck disable=SC2016,SC2086 # shells of their own; words

load ../../lib/rlock
load ../../lib/actors
load ../../lib/status

# watch_on COLUMNS 'ARG...' STEP...: rlock status ARG... on a terminal of 24 lines, until ^C. What it was sent
# is in shown, what stands on it at the end in screen; nothing must have scrolled away.
watch_on() {
    on_terminal "$1" "${@:3}" keys=^C -- status $2
    assert_failure 130
    shown=$output
    screen=$(printf %s "${shown%^C*}" | python3 "$TOOLS/screen.py" "${last_columns:-$1}" 24)
}

assert_screen() { # REGEX...
    local regex
    for regex; do
        grep -qE -- "$regex" <<<"$screen" || fail "no line fits $regex:"$'\n'"$screen"
    done
}

many() { # N: locks of Redisson's, each by a name of 90 letters
    redis EVAL "for i = 1, $1 do redis.call('HSET', i .. string.rep('n', 90), ARGV[1], 1) end" 0 "$JAVA"
}

# --- what is drawn -------------------------------------------------------------------------------

@test "a title, and the queue: places, ages, what they want; the next drawing takes the place of the last" {
    holds a run
    act b fair -q
    wait_until 5 waits_in_line 1
    act c fair -q
    wait_until 5 waits_in_line 2
    watch_on 150 '--watch=200ms x' 'expect=waits 2' 'expect=waits 2' "sh=kill ${pid_of[b]}" 'expect=1 waiting' 'expect=1 waiting'
    assert_screen "^[0-9:]{8}, every [0-9]+ms: 1 lock, 1 held, 1 waiting on $RLOCK_SERVER\$" '^NAME +KIND +STATE +WHO' \
        "^x +fair +held .* ${pid_of[a]} +[0-9]+s +[0-9]+s +1 " "^ +waits 1 .* ${pid_of[c]} +[0-9]+s +.*--note who=c"
    refute_regex "$screen" 'waits 2'
    refute_regex "$shown" $'\e\\[(2J|H\e\\[J)' # it is never empty
    [[ $(grep -c . <<<"$screen") == 4 ]] || fail "$screen"
    brief c
    finish a
    gone 0 c
}

@test "as many lines as there is room for, and how many more there are; nothing wraps or scrolls, of 10,000 locks either" {
    local columns
    many 40
    for columns in 200 60 20; do
        watch_on "$columns" --watch=100ms 'expect=20 more lines' 'expect=20 more lines'
        assert_screen '^20 more lines$'
        assert_equal "$(wc -l <<<"$screen")" 23
        assert_equal "$(awk -v most="$columns" 'length > most' <<<"$screen")" ''
    done
    many 10000 # looking takes no more than a fifth of the time
    watch_on 100 --watch=100ms 'expect=9980 more lines'
    assert_screen '^9980 more lines$' ': 10000 locks, 10000 held, 0 waiting on '
    refute_regex "$screen" 'every 100ms'
    ((${#shown} < 20000)) || fail "${#shown} bytes were written"
}

# --- its keys ------------------------------------------------------------------------------------

# restored STATUS STEP...: it ends so, and stty says the same before and after.
restored() {
    printf '#!/bin/sh\nstty -a >before\n"$@"\nstatus=$?\nstty -a >after\ncmp before after && exit "$status"\n' >around
    chmod +x around
    run python3 "$TOOLS/terminal.py" --columns 100 "${@:2}" -- ./around "$RLOCK" status --watch=1h x
    assert_equal "$status" "$1"
}

@test "q ends it as Ctrl-C does, another key does not; it is drawn after fg; the terminal is as it was" {
    on_terminal 100 'expect=1 lock' keys=x columns=90 'expect=1 lock' keys=q -- status --watch=1h x
    assert_failure 130
    restored 130 'expect=1 lock' keys=^C
    restored 130 'expect=1 lock' 'sh=stty -a -F /proc/$JOB/fd/0 | grep -q -- "-icanon"' keys=^Z stopped \
        'sh=stty -a -F /proc/$JOB/fd/0 | grep -q " icanon"' fg 'expect=1 lock' keys=q
    restored 143 'expect=1 lock' 'sh=kill -TERM $(pgrep -P "$JOB")'
}

@test "q before the first drawing ends it, too, and is not seen" {
    proxy_start
    redis CLIENT PAUSE 500 ALL
    on_terminal 100 "sh=grep -q '^request' proxy.log" keys=q -- status --watch=1h x
    assert_failure 130
    [[ $output != q* ]] || fail "it was: $output"
}

@test "no locks, and a name that is none, are a line" {
    watch_on 60 --watch=100ms 'expect=no locks'
    assert_screen ': 0 locks, 0 held, 0 waiting' '^no locks$'
    redis SADD set 1
    watch_on 100 '--watch=100ms set x' 'expect=no lock' 'expect=no lock'
    assert_screen '^cannot look at set ' '^x +free$'
}

# --- a terminal changes, a server goes ----------------------------------------------------------

@test "a terminal of another size is drawn on at once" {
    many 1
    last_columns=60 watch_on 120 --watch=1h 'expect=1 held' columns=60 'expect=1 held'
    assert_equal "$(awk 'length > 60' <<<"$screen")" ''
}

@test "a server that goes away is a line, with what was seen last below; it comes back: the line goes" {
    local server=$BATS_FILE_TMPDIR/lone/sock
    server_start lone
    redis_on lone HSET x "$JAVA" 1
    RLOCK_SERVER=unix://$server watch_on 100 '--watch=100ms --connect-timeout 100ms x' 'expect=held' \
        "sh=redis-cli -s $server SHUTDOWN NOSAVE || :" 'expect=no answer for 1s, this was last seen:' \
        "expect=cannot look at x on unix://$server" 'expect=held' \
        "sh=redis-server --port 0 --save '' --unixsocket $server --daemonize yes --pidfile $PWD/again.pid >again.log" \
        'expect=1 lock, 0 held' 'expect=1 lock, 0 held' # the second: then the first drawing is whole
    kill "$(cat again.pid)"
    refute_regex "$shown" 'rlock: ' # nothing but the drawing
    assert_screen '1 lock, 0 held' '^x +free$'
    refute_regex "$screen" '(cannot|no answer|ago)'
}

@test "a way that has become long is waited for longer, and not for the same short while for ever" {
    proxy_start
    watch_on 100 '--watch=100ms x' 'expect=1 lock, 0 held' 'sh=echo lag 1500 >proxy.fifo' 'expect=no answer for ' \
        'expect=1 lock, 0 held'
}

@test "several servers: each has its lines; those that do not answer are named" {
    server_start m2
    redis_on m2 HSET x "$JAVA" 1
    redis HSET x "$JAVA" 1
    watch_on 100 "--watch=100ms -s $RLOCK_SERVER -s $(server_url m2) -s unix://$PWD/none" expect=held expect=held
    assert_screen ': 2 of 3 servers answer$' "^cannot look for locks on unix://$PWD/none: " "^$RLOCK_SERVER\$" \
        "^$(server_url m2)\$" '^x +run +held'
}

# --- elsewhere -----------------------------------------------------------------------------------

lines_of() { # FILE N
    (($(wc -l <"$1") >= $2))
}

ended_by_term() {
    kill -TERM "$pid"
    reaps 143 "$pid"
}

@test "without a terminal, on a dumb one, or with --json one after the other is printed; the default is two seconds" {
    local before
    start status --watch=100ms --json x
    wait_until 10 lines_of out 3
    ended_by_term
    assert_equal "$(sort -u out | grep -c free)" 1
    start status --watch x
    before=$(now_ms)
    wait_until 10 lines_of out 4
    (($(now_ms) - before > 1500))
    ended_by_term
    refute grep -q $'\e' out
    assert_equal "$(sort -u out | wc -l)" 2 # the titles, and x
    TERM=dumb on_terminal 80 expect=free expect=free keys=^C -- status --watch=100ms x
    refute_output --partial $'\e'
    on_terminal 80 expect=free expect=free keys=^C -- status --watch=100ms --json x
    refute_output --partial $'\e'
}

# left_by READER SIGNAL STATUS ARG...: rlock ARG... writes to a reader that goes away, and ends so.
left_by() {
    took 0 10000 timeout -s KILL $((20 * SLOW)) env "--$2" \
        bash -c '"$0" "${@:2}" | eval "$1"; exit "${PIPESTATUS[0]}"' "$RLOCK" "$1" "${@:4}"
    assert_failure "$3"
}

@test "it ends when its reader goes away, also if there is nothing to print" {
    left_by 'head -n 1 >/dev/null' default-signal=PIPE 141 status --watch=1h --json
    left_by true default-signal=PIPE 141 status --watch=1h
    left_by true ignore-signal=PIPE 71 status --watch=1h
    assert_message
    assert_stderr_has 'cannot write to standard output: Broken pipe'
}

@test "messages go to a log as well, when there is one" {
    redis SADD set 1 >/dev/null
    run python3 "$TOOLS/terminal.py" --columns 100 expect=cannot expect=cannot keys=^C -- \
        sh -c 'exec "$0" status --log json --watch=100ms set 2>log' "$RLOCK"
    assert_failure 130
    refute_output --partial '"message"'
    assert_file_contains log '"message":"cannot look at set '
}

@test "it waits for a server that has gone, and prints nothing meanwhile; one that never was there ends it" {
    server_start other
    start status -s "$(server_url other)" --watch=100ms --connect-timeout "$(ms 200)" --json x
    wait_until 10 lines_of out 1
    server_stop other
    wait_until 10 grep -q 'cannot look at x' err
    refute grep -qx '\[\]' out
    server_start other
    : >out
    wait_until 10 grep -q free out
    ended_by_term
    ends_saying 69 -- status --watch --connect-timeout 100ms -s "unix://$PWD/none" x
}
