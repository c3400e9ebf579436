#!/usr/bin/env bats
# progress.bats: the live line while waiting, on a real terminal. What is said without one: wait.bats, and
# each kind's own file.

load ../../lib/rlock

background= # or --background, for watch
# watch STATUS COLUMNS [STEP...] -- COMMAND...: it ends so on a terminal. The file shown is what that was sent, screen what
# is seen in the end.
watch() {
    status=0
    python3 "$TOOLS/terminal.py" --timeout $((20 * SLOW)) --columns "$2" ${background:+"$background"} "${@:3}" >shown || status=$?
    screen=$(python3 "$TOOLS/screen.py" "$2" <shown)
    assert_equal "$status: ${*:3}" "$1: ${*:3}"
}

# drawn: the live lines, in their order, one a line.
drawn() {
    sed 's/\r\x1b\[K/\n/g; s/\^C//' shown | grep -a '^rlock: waiting '
}

# redis_step COMMAND...: the step in which the server gets commands, and waiters for x are woken.
redis_step() {
    local command
    printf 'sh={ '
    for command in "$@" "PUBLISH redisson_lock__channel:{x} 0"; do
        printf "redis-cli -s '%s' %s; " "${RLOCK_SERVER#unix://}" "$command"
    done
    echo '} >/dev/null'
}

@test "place, holder, how long and what it runs: anew every second, over the line before; gone when the lock is there" {
    LOGNAME=alice hold x
    watch 0 300 "expect=for x" "expect=for x" "expect=for x" "sh=: >let-go-x" -- rlock fair -n x -- echo ran
    assert_equal "$screen" ran
    reap "$holder"
    run drawn
    ((${#lines[@]} >= 3)) || fail "${#lines[@]} lines"
    assert_line --index 2 --regexp \
        "^rlock: waiting [2-9]s for x \(fair, 1st of 1\): held by alice@$(uname -n) pid $holder for [0-9]+s, sh -c "
}

@test "it is gone when the wait ends without the lock, when the server refuses, after Ctrl-C" {
    foreign_hold x 60000
    watch 75 200 -- rlock run -n x -w "$(ms 300)" -- true
    assert_equal "$screen" "rlock: cannot take x: held by $foreign_owner"
    run -0 drawn
    watch 130 200 "expect=for x" "keys=^C" -- rlock run -n x -- true
    refute_regex "$screen" waiting
    watch 65 200 "expect=for x" "$(redis_step "SET x text")" -- rlock run -n x -- true
    assert_one_line "$screen"
    assert_regex "$screen" '^rlock: cannot take x on .*another kind'
}

@test "in the background nothing is drawn; in the foreground it is, until the job is in the background again" {
    foreign_hold x 60000
    background=--background watch 0 200 "sh=sleep 1.2" fg "expect=for x" "keys=^Z" stopped bg \
        "sh=sleep 1.2" fg "expect=for x" "$(redis_step "DEL x")" -- rlock run -n x -- echo ran
    assert_equal "$(tail -n 1 <<<"$screen")" ran
    drawn >lines
    assert_regex "$(head -n 1 lines)" "^rlock: waiting [1-9]s for x"
    (($(wc -l <lines) <= 4)) || fail "drawn in the background: $(cat lines)"
}

@test "it is cut to the terminal's width, also when that changes" {
    local name=a-name-that-has-more-than-forty-characters-in-it first later
    foreign_hold "$name" 60000
    watch 130 40 "expect=waiting " columns=200 "expect=$foreign_owner" columns=40 \
        "expect=waiting " "expect=waiting " "expect=waiting " "keys=^C" -- rlock run -n "$name" -- true
    drawn >lines
    first=$(head -n 1 lines)
    later=$(tail -n 1 lines)
    assert_regex "$first" "^rlock: waiting( .s)? for a-name-that-has"
    assert_equal "${#later}" 37
    assert_regex "$(cat lines)" "for $name: held by $foreign_owner"
}

@test "a terminal that is narrower than any line, and wide characters" {
    foreign_hold 錠前錠前錠前錠前 60000
    watch 130 12 "expect=rlock: wa" "keys=^C" -- rlock run -n 錠前錠前錠前錠前 -- true
    refute_regex "$screen" rlock
    watch 130 30 "expect=for " "keys=^C" -- rlock run -n 錠前錠前錠前錠前 -- true
    assert_regex "$(drawn | head -n 1)" "^rlock: waiting( .s)? for (錠前)+$"
    refute_regex "$screen" waiting
}

@test "-q: no line; TERM=dumb: lines as in a log; --log json: objects" {
    foreign_hold x 300000
    watch 75 200 -- rlock run -q -n x -w "$(ms 300)" -- true
    assert_equal "$(cat shown)" ""
    TERM=dumb watch 75 200 -- rlock run -n x -w 1200ms -- true
    run cat shown
    assert_line --index 0 --regexp "^rlock: waiting( .s)? for x: held by $foreign_owner"
    assert_line --index 1 --regexp "^rlock: cannot take x: held by $foreign_owner"
    assert_equal "${#lines[@]}" 2
    refute_output --partial $'\e'
    watch 75 300 -- rlock run --log json -n x -w "$(ms 300)" -- true
    refute_regex "$(cat shown)" $'\e'
    run python3 -c 'import json; print([json.loads(line)["event"] for line in open("shown")])'
    assert_output "['waiting', 'busy']"
}

@test "on a terminal a server that goes away while waiting is told at once" {
    server_start lone
    redis_on lone HSET x "$foreign_owner" 1
    watch 130 300 "expect=for x: held by" "sh=redis-cli -s $BATS_FILE_TMPDIR/lone/sock SHUTDOWN NOSAVE || :" \
        "expect=for x: cannot use $(server_url lone): " "keys=^C" -- rlock run -s "$(server_url lone)" -n x -- true
}
