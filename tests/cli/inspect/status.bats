#!/usr/bin/env bats
# status.bats: what `rlock status` shows of each kind, as a table, as JSON, by its exit status; and that
# it writes nothing. status_all.bats: finding all locks; watch.bats: again and again; inspect.lua alone:
# lua/scripts.bats.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/messages
load ../../lib/status
load ../../lib/latch

JAVA=77777777-2222-4333-8444-555555555555:7

# --- JSON ----------------------------------------------------------------------------------------

@test "a free name: state free, nobody, and nothing is known of it" {
    see x
    assert_equal "$seen" '[{"name":"x","kind":null,"state":"free","holders":[],"waiters":[],"permits":{"total":null,"available":null},"count":null,"token":null}]'
}

@test "run: who, where, what, since when, until when, holds and token; and those who wait" {
    holds a run -l 20s
    act b run -q
    act c fair -q
    wait_until 5 waits_in_line 2
    see_unchanged x
    assert_seen 'v[0]["kind"], v[0]["state"], v[0]["token"]' "('fair', 'held', 1)"
    assert_seen 'len(v[0]["holders"]), v[0]["holders"][0]["owner"]' "(1, '$(redis HKEYS x)')"
    assert_seen 'v[0]["holders"][0]["pid"]' "${pid_of[a]}"
    assert_seen 'v[0]["holders"][0]["host"], v[0]["holders"][0]["user"]' "('$(uname -n)', '$(id -un)')"
    assert_seen '"--note who=a" in v[0]["holders"][0]["command"]' True
    assert_seen '0 < v[0]["holders"][0]["ttl_ms"] <= 20000' True
    assert_seen 'v[0]["holders"][0]["holds"], v[0]["holders"][0]["token"], v[0]["holders"][0]["permits"]' "(1, 1, None)"
    assert_seen '[(w["position"], w["pid"]) for w in v[0]["waiters"]]' "[(1, ${pid_of[c]}), (2, ${pid_of[b]})]"
    assert_seen '[(w["user"], "--note who=c" in w["command"]) for w in v[0]["waiters"][:1]]' "[('$(id -un)', True)]"
    brief b c
    finish a
    gone 0 b c
}

@test "since is the instant at which it was taken, in UTC" {
    local before after
    before=$(date -u +%FT%T.%3NZ)
    TZ=Asia/Tokyo holds a run
    after=$(date -u +%FT%T.%3NZ)
    TZ=Asia/Tokyo see x
    assert_seen "'$before' <= v[0]['holders'][0]['since'] <= '$after'" True
    finish a
}

@test "a token of 64 bits is told to its last digit" {
    holds a run
    redis SET 'redisson_lock_token:{x}' 9223372036854775807 >/dev/null
    redis HSET 'rlock_info:{x}' "$(redis HKEYS x)" '{"token":9223372036854775806,"pid":1}' >/dev/null
    see x
    assert_seen 'v[0]["token"], v[0]["holders"][0]["token"]' "(9223372036854775807, 9223372036854775806)"
    finish a
}

@test "nested holds are one holder" {
    # shellcheck disable=SC2016
    try run -n x -- "$RLOCK" run -n x -- "$RLOCK" status --json x
    assert_success
    seen=$output
    assert_seen '[h["holds"] for h in v[0]["holders"]]' "[2]"
}

@test "read and write: each reader; a writer that waits" {
    holds a read
    holds b read
    act c write -q
    wait_until 5 redis_has '{x}:wait_write'
    see x
    assert_seen 'v[0]["kind"], sorted(h["pid"] for h in v[0]["holders"])' \
        "('read', [$(printf '%s\n' "${pid_of[a]}" "${pid_of[b]}" | sort -n | paste -sd , | sed 's/,/, /')])"
    assert_seen '[w["pid"] for w in v[0]["waiters"]]' "[${pid_of[c]}]"
    finish a b
    wait_until 10 entered_section c
    see x
    assert_seen 'v[0]["kind"], v[0]["holders"][0]["pid"], v[0]["waiters"]' "('write', ${pid_of[c]}, [])"
    finish c
}

redis_has() { # KEY
    [[ $(redis EXISTS "$1") == 1 ]]
}

@test "sem: permits in all and available, and who has how many; held while one is taken" {
    holds a sem --permits 5 --take 2
    see x
    assert_seen 'v[0]["kind"], v[0]["state"], v[0]["permits"]' "('sem', 'held', {'total': 5, 'available': 3})"
    assert_seen '[(h["permits"], h["pid"]) for h in v[0]["holders"]]' "[(2, ${pid_of[a]})]"
    finish a
    see x
    assert_seen 'v[0]["kind"], v[0]["state"], v[0]["permits"]' "('sem', 'free', {'total': 5, 'available': 5})"
}

@test "what --min-hold alone keeps is kept, by no process: in the table, in JSON, and for who waits" {
    local kind other
    for kind in run fair read write 'sem --permits 1'; do
        redis FLUSHALL >/dev/null
        # shellcheck disable=SC2086
        try $kind -n x --min-hold 60s -- sh -c : job
        see x
        assert_seen 'v[0]["state"], [(h["pid"], h["token"], h["user"]) for h in v[0]["holders"]]' \
            "('held', [(None, None, '$(id -un)')])"
        try status x
        assert_line --regexp " kept( 1)? +$(id -un)@$(uname -n) +[0-9]+m?s +[0-9]+s? +sh -c : job\$"
        other=${kind/read/write}
        # shellcheck disable=SC2086
        try $other -x -n x -- true
        assert_failure 75
        assert_stderr_has "cannot take x: kept by --min-hold of $(id -un)@$(uname -n)"
        refute_regex "$stderr" pid
    done
}

@test "latch: held until it is open, with its count" {
    try latch set -n x --count 3
    see x
    assert_seen 'v[0]["kind"], v[0]["state"], v[0]["count"], v[0]["token"]' "('latch', 'held', 3, None)"
    try latch down -n x --by 3
    see x
    assert_seen 'v[0]["kind"], v[0]["state"], v[0]["count"]' "(None, 'free', None)"
}

@test "waiters of every kind have user, command and note" {
    local kind
    for kind in run fair read write 'sem --permits 1'; do
        redis FLUSHALL
        # shellcheck disable=SC2086
        log=holds start ${kind/#read/write} -n x -- sh -c ': >held; exec sleep 60'
        wait_until 5 test -e held
        pid_of[holds]=$pid
        # shellcheck disable=SC2086
        log=waits start $kind -q -n x --note 'until Friday' -- sh -c 'echo waits'
        wait_until 5 waits_for_x
        see x
        assert_seen '[(w["user"], w["command"], w["note"], w["pid"], w["position"]) for w in v[0]["waiters"]]' \
            "[('$(id -un)', 'sh -c echo waits', 'until Friday', $pid, 1)]"
        try status x
        assert_line --regexp "waits 1 +$(id -un)@$(uname -n) +$pid .*sh -c echo waits +until Friday"
        kill "$pid" "${pid_of[holds]}"
        reap "$pid"
        reap "${pid_of[holds]}"
        rm held
        [[ $kind == sem* ]] || assert_no_keys
    done
}

waits_for_x() {
    [[ $(rlock status --json x) == *'"position":1'* ]]
}

@test "Redisson's: host, pid, user and command are unknown" {
    redis HSET x "$JAVA" 2 >/dev/null
    redis PEXPIRE x 30000 >/dev/null
    see x
    assert_seen '{k: n for k, n in v[0]["holders"][0].items() if k != "ttl_ms"}' \
        "{'owner': '$JAVA', 'host': None, 'pid': None, 'user': None, 'command': None, 'note': None, 'since': None, 'holds': 2, 'token': None, 'permits': None}"
}

@test "a pattern: all locks that it fits, the newest first; a lock of just that name comes first" {
    local name
    for name in deploy/web deploy/db build 'deploy/*' ; do
        redis HSET "$name" "$JAVA" 1 >/dev/null
    done
    see 'deploy/*' # a lock has that name
    assert_seen '[l["name"] for l in v]' "['deploy/*']"
    redis DEL 'deploy/*' >/dev/null
    see 'deploy/*'
    assert_seen 'sorted(l["name"] for l in v)' "['deploy/db', 'deploy/web']"
    see 'deploy/[w]?b' build free 'b*'
    assert_seen '[l["name"] for l in v]' "['build', 'free', 'deploy/web']"
    see 'none*'
    assert_equal "$seen" '[]'
    try status '*w*b'
    assert_success
    assert_line --index 1 --regexp '^deploy/web +run +held'
    assert_equal "${#lines[@]}" 2
    try status -q 'deploy/*'
    assert_failure 75
    try status -q 'none*'
    assert_success
}

@test "several names, in the order in which they were asked for" {
    hold b
    see c b a
    assert_seen '[(l["name"], l["state"]) for l in v]' "[('c', 'free'), ('b', 'held'), ('a', 'free')]"
    let_go b
    reap "$holder"
}

@test "a name that is no lock: 65, and the others are shown" {
    redis SADD set 1 >/dev/null
    try status --json a set b
    assert_failure 65
    assert_message
    assert_stderr_has set "no lock"
    seen=$output
    assert_seen '[l["name"] for l in v]' "['a', 'b']"
}

# --- the exit status alone -----------------------------------------------------------------------

@test "-q: 0 free, 75 held, and nothing is printed" {
    hold b
    try status -q a
    assert_equal "$status$output$stderr" 0
    try status -q b
    assert_equal "$status$output$stderr" 75
    try status -q a b
    assert_equal "$status$output$stderr" 75
    let_go b
    reap "$holder"
}

@test "-q asks about a name, and prints nothing: else 64" {
    assert_usage missing NAME -- status -q
    assert_usage json -- status -q --json x
    assert_usage watch -- status --watch -q x
    assert_usage watch -- status --watch=1ms x
    assert_usage empty -- status ''
    echo 'quiet = yes' >"$RLOCK_CONFIG" # of messages
    see x
}

# --- the table -----------------------------------------------------------------------------------

@test "the table: a line for each holder and waiter, as long as it takes where no terminal reads it" {
    holds a run
    act b fair -q
    wait_until 5 waits_in_line 1
    try status x
    assert_success
    assert_equal "$stderr" "rlock: $RLOCK_SERVER, from RLOCK_SERVER"
    assert_line --index 0 --regexp '^NAME +KIND +STATE +WHO +PID +FOR +LEASE +TOKEN +COMMAND$'
    assert_line --index 1 --regexp "^x +fair +held +$(id -un)@$(uname -n) +${pid_of[a]} +[0-9a-z]+ +[0-9]+s +1 +.*/section .*--note who=a.*[^.]\$"
    assert_line --index 2 --regexp "^ +waits 1 +$(id -un)@$(uname -n) +${pid_of[b]} +[0-9]+s +.*--note who=b"
    brief b
    finish a
    gone 0 b
}

# Names and commands that are long, wide, or move the cursor.
fill_with_long() {
    long=$(printf 'n%.0s' {1..300})
    redis HSET "$long" "$JAVA$(printf 'o%.0s' {1..300})" 1 >/dev/null
    redis HSET y "$JAVA" 1 >/dev/null
    redis HSET 'rlock_info:{y}' "$JAVA" \
        '{"host":"a\u001b[2Jb\u009bc","user":"\n","pid":4194304,"command":"日本語日本語日本語日本語日本語日本語日本語日本語"}' >/dev/null
}

@test "the table on a terminal: never wider than that, whatever is in it" {
    local columns widest
    fill_with_long
    export NO_COLOR=1
    for columns in 300 100 60 30 5; do
        on_terminal "$columns" -- status y "$long"
        assert_success
        refute_output --regexp $'[\x01-\x09\x0b\x0c\x0e-\x1f]'
        widest=$(python3 -c 'import sys, unicodedata as u
print(max(sum(1 + (u.east_asian_width(c) in "WF") for c in line.rstrip("\r\n")) for line in sys.stdin))' <<<"$output")
        ((widest <= columns)) || fail "$widest columns of $columns: $output"
    done
}

# by_rlock NAME COMMAND NOTE: held by root@web-01 for three seconds.
by_rlock() {
    redis HSET "$1" "$JAVA" 1 >/dev/null
    redis PEXPIRE "$1" 27999 >/dev/null
    redis HSET "rlock_info:{$1}" "$JAVA" "{\"host\":\"web-01\",\"user\":\"root\",\"pid\":30419,
        \"since\":$(($(redis TIME | head -n 1) * 1000 - 3000)),\"command\":\"$2\",\"note\":\"$3\"}" >/dev/null
}

@test "a narrow terminal cuts NOTE, TOKEN, PID, COMMAND from its end and WHO's user, in this order; host and name last" {
    local head='NAME +KIND +STATE +WHO' row='deploy-production +run +held' columns regex
    export NO_COLOR=1
    by_rlock deploy-production './deploy.sh --environment production' https://gitlab.example.com/web/-/jobs/101
    while read -r columns regex; do
        on_terminal "$columns" -- status deploy-production
        assert_line --index 1 --regexp "^$head ${regex%% / *}"$'\r$'
        assert_line --index 2 --regexp "^$row ${regex#* / }"$'\r$'
    done <<EOS
160 +PID +FOR +LEASE +TOKEN +COMMAND +NOTE /  +root@web-01 +30419 +[0-9]+s +[0-9]+s +./deploy.sh --environment production +https://gitlab.*/101
120 +PID +FOR +LEASE +TOKEN +COMMAND /  +root@web-01 +30419 +[0-9]+s +[0-9]+s +./deploy.sh --environment production
100 +PID +FOR +LEASE +COMMAND /  +root@web-01 +30419 +[0-9]+s +[0-9]+s +./deploy.sh --environment production
96 +FOR +LEASE +COMMAND /  +root@web-01 +[0-9]+s +[0-9]+s +./deploy.sh --environment production
80 +FOR +LEASE +COMMAND /  +root@web-01 +[0-9]+s +[0-9]+s +./deploy.sh --en[a-z]*\.\.\.
65 +FOR +LEASE +COMMAND /  +web-01 +[0-9]+s +[0-9]+s +./deploy.[sh.]*\.\.\.
EOS
    on_terminal 36 -- status deploy-production
    assert_line --index 2 --regexp "^deploy-production +held +web-01"$'\r$'
    on_terminal 30 -- status deploy-production
    assert_line --index 2 --regexp "^deploy-pr?o?d?u?c?\.\.\. +held +web-01"$'\r$'
}

@test "at 80 columns host, name and a short command are whole" {
    export NO_COLOR=1
    by_rlock vacuum 'sleep 60' https://gitlab.example.com/web/-/jobs/101
    by_rlock deploy-staging './deploy.sh --environment staging --verbose' ''
    by_rlock short 'sleep 60' ''
    on_terminal 80 -- status vacuum deploy-staging
    assert_line --index 2 --regexp "^vacuum  .* root@web-01 .* sleep 60"$'\r$'
    assert_line --index 3 --regexp "^deploy-staging  .* root@web-01 .* ./deploy.sh --env.*\.\.\."$'\r$'
    on_terminal 40 -- status short
    assert_line --index 2 --regexp "^short  .* web-01 .*s"$'\r$'
    refute_output --partial '...'
}

@test "of many who wait the first five are shown, with -v all" {
    redis HSET x "$JAVA" 1 >/dev/null
    local i
    for i in {1..8}; do
        redis RPUSH 'redisson_lock_queue:{x}' "$JAVA$i" >/dev/null
        redis ZADD 'redisson_lock_timeout:{x}' 9999999999999 "$JAVA$i" >/dev/null
    done
    try status x
    assert_line --regexp '^ +waits 5 '
    assert_line --regexp '^ +3 more$'
    refute_output --partial 'waits 6'
    try status -v x
    assert_line --regexp '^ +waits 8 '
}

@test "colours on a terminal, but not with NO_COLOR or a dumb one, nor into a pipe" {
    on_terminal 100 -- status x
    assert_success
    assert_output --partial $'\e[1mNAME\e[0m'
    assert_output --partial $'\e[32mfree\e[0m'
    NO_COLOR=1 on_terminal 100 -- status x
    refute_output --partial $'\e'
    TERM=dumb on_terminal 100 -- status x
    refute_output --partial $'\e'
    try status x
    refute_output --partial $'\e'
}

# --- what goes wrong -----------------------------------------------------------------------------

@test "no server: 69; a full disk: a failure" {
    try status --connect-timeout 100ms -s "unix://$PWD/none" x y
    assert_failure 69
    assert_message
    assert_stderr_has "look at x" none
    try status --connect-timeout 100ms -s "unix://$PWD/none"
    assert_failure 69
    assert_message
    run --separate-stderr sh -c '"$0" status x >/dev/full' "$RLOCK"
    assert_failure 71
}
