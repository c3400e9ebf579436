#!/usr/bin/env bats
# status.bats: what `rlock status` shows of each kind, as a table, as JSON, by its exit status; and that
# it writes nothing. status_all.bats: finding all locks; watch.bats: again and again; inspect.lua alone:
# lua/scripts.bats.
# shellcheck disable=SC2086 # kinds of several words

load ../../lib/rlock
load ../../lib/status
load ../../lib/actors

# --- JSON ----------------------------------------------------------------------------------------

@test "a free name: state free, nobody, and nothing is known of it" {
    see x
    assert_equal "$seen" '[{"name":"x","kind":null,"state":"free","holders":[],"waiters":[],"permits":{"total":null,"available":null},"count":null,"token":null}]'
}

@test "each kind, as JSON and in the table: who has it, who waits, and what there is to have; nothing is written" {
    local here shown permits table other kind
    here=$(id -un)@$(uname -n)
    while IFS='|' read -r shown permits table other kind; do
        redis FLUSHALL
        rm -f history end-*
        holds a $kind -l 20s
        act b $other -q
        wait_until 5 eval '[[ $(rlock status --json) == *position* ]]'
        see_unchanged x
        assert_seen '[v[0][key] for key in ("kind", "state", "token", "count")], [*v[0]["permits"].values()]' \
            "(['$shown', 'held', 1, None], [$permits])"
        assert_seen '[(p["pid"], p["user"] + "@" + p["host"], p["command"][-5:]) for p in v[0]["holders"] + v[0]["waiters"]]' \
            "[(${pid_of[a]}, '$here', 'end-a'), (${pid_of[b]}, '$here', 'end-b')]"
        assert_seen 'v[0]["holders"][0]["owner"]' "$(told a owner)"
        assert_seen '[(h["holds"], h["token"], 0 < h["ttl_ms"] <= 20000, h["since"] < w["since"], w["position"])
            for h in v[0]["holders"] for w in v[0]["waiters"]]' '[(1, 1, True, True, 1)]'
        run -0 --separate-stderr rlock status x # where no terminal reads it, as long as it takes
        assert_line --index 0 --regexp '^NAME +KIND +STATE +WHO +PID +FOR +LEASE +TOKEN +COMMAND$'
        assert_line --regexp \
            "^(x +$shown)? +$table +$here +${pid_of[a]} +[0-9]+m?s +[12][0-9]s +1 +.* who=a --until end-a\$"
        assert_line --regexp "^ +waits 1 +$here +${pid_of[b]} +[0-9]+m?s .* who=b --until end-b\$"
        finish a b
    done <<'END'
fair|None, None|held|fair|run
run|None, None|held|run|fair
read|None, None|held|write|read
write|None, None|held|read|write
sem|5, 3|has 2|sem --take 4|sem --permits 5 --take 2
END
}

@test "what is left when all have given it back; more permits than there are; Redisson's, held twice; a latch" {
    rlock sem -n s --permits 5 -- true
    rlock latch set -n l --count 3
    redis HSET j "$JAVA" 2
    see s l j
    assert_seen '[(lock["kind"], lock["state"], lock["permits"], lock["count"]) for lock in v[:2]]' \
        "[('sem', 'free', {'total': 5, 'available': 5}, None), ('latch', 'held', {'total': None, 'available': None}, 3)]"
    assert_seen '[by["j"]["holders"][0][key] for key in ("owner", "holds", "pid", "token")]' "['$JAVA', 2, None, None]"
    run -0 --separate-stderr rlock status s l j
    assert_line --index 1 --regexp '^s +sem +5 of 5 free'
    assert_line --index 2 --regexp '^l +latch +3 to go'
    assert_line --index 3 --regexp "^j +run +held 2x +${JAVA%:*}"
    env -u LOGNAME -u USER "$RLOCK" acquire sem -n s --take 4 # the environment does not say whose
    rlock sem -n s --resize 2
    see s
    assert_seen "v[0]['permits'], v[0]['holders'][0]['user']" "({'total': 2, 'available': -2}, '$(id -un)')"
}

@test "since is the instant at which it was taken, in UTC; a token of 64 bits is told to its last digit" {
    local before after
    before=$(date -u +%FT%T.%3NZ)
    TZ=Asia/Tokyo rlock acquire run -n x
    after=$(date -u +%FT%T.%3NZ)
    TZ=Asia/Tokyo see x
    assert_seen "'$before' <= v[0]['holders'][0]['since'] <= '$after'" True
    redis SET 'redisson_lock_token:{x}' 9223372036854775807
    redis HSET 'rlock_info:{x}' "$(redis HKEYS x)" '{"token":9223372036854775806,"pid":1}'
    see x
    assert_seen 'v[0]["token"], v[0]["holders"][0]["token"]' "(9223372036854775807, 9223372036854775806)"
}

@test "what --min-hold alone keeps is kept, by no process: in the table, in JSON, and for who waits" {
    local kind other
    for kind in run fair read write 'sem --permits 1'; do
        redis FLUSHALL >/dev/null
        try $kind -n x --min-hold 60s -- sh -c : job
        see x
        assert_seen 'v[0]["state"], [(h["pid"], h["token"], h["user"]) for h in v[0]["holders"]]' \
            "('held', [(None, None, '$(id -un)')])"
        run -0 --separate-stderr rlock status x
        assert_line --regexp " kept( 1)? +$(id -un)@$(uname -n) +[0-9]+m?s +[0-9]+s? +sh -c : job\$"
        other=${kind/read/write}
        ends_saying 75 "cannot take x: kept by --min-hold of $(id -un)@$(uname -n)" -- $other -x -n x -- true
        refute_regex "$stderr" pid
    done
}

@test "a pattern: all locks that it fits, the newest first; a lock of just that name comes first" {
    local name
    for name in deploy/web deploy/db build 'deploy/*' naïve; do
        redis HSET "$name" "$JAVA" 1
    done
    see 'deploy/*' # a lock has that name
    assert_seen '[l["name"] for l in v]' "['deploy/*']"
    redis DEL 'deploy/*'
    see 'deploy/*'
    assert_seen 'sorted(l["name"] for l in v)' "['deploy/db', 'deploy/web']"
    see 'deploy/[w]?b' build free 'b*'
    assert_seen '[l["name"] for l in v]' "['build', 'free', 'deploy/web']"
    see 'none*' 'deploy/d?'
    assert_seen '[l["name"] for l in v]' "['deploy/db']"
    LC_ALL=C see 'na?ve'
    assert_seen 'len(v)' 1
    run -0 --separate-stderr rlock status '*w*b'
    assert_line --index 1 --regexp '^deploy/web +run +held'
    assert_equal "${#lines[@]}" 2
}

@test "-q: 0 free, 75 held, and nothing is printed" {
    local expected names
    foreign_hold b 60000
    while read -r expected names; do
        try status -q $names
        assert_equal "$names: $status$output$stderr" "$names: $expected"
    done <<<$'0 a\n75 b\n75 a b\n75 b*\n0 c*'
    echo 'quiet = yes' >"$RLOCK_CONFIG" # of messages
    see a
}

# --- the table -----------------------------------------------------------------------------------

@test "the table on a terminal: never wider than that, whatever is in it" {
    local columns widest long
    long=$(printf 'n%.0s' {1..300})
    redis HSET "$long" "$JAVA$(printf 'o%.0s' {1..300})" 1
    redis HSET y "$JAVA" 1
    redis HSET 'rlock_info:{y}' "$JAVA" \
        '{"host":"a\u001b[2Jb\u009bc","user":"\n","pid":4194304,"command":"日本語日本語日本語日本語日本語日本語日本語日本語"}'
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

@test "a narrow terminal cuts NOTE, TOKEN, PID, COMMAND from its end and WHO's user, in this order; host and name last" {
    local head='NAME +KIND +STATE +WHO' row='deploy-production +run +held' columns regex
    export NO_COLOR=1
    redis HSET deploy-production "$JAVA" 1
    redis PEXPIRE deploy-production 27999
    redis HSET 'rlock_info:{deploy-production}' "$JAVA" "{\"host\":\"web-01\",\"user\":\"root\",\"pid\":30419,
        \"since\":$(($(redis TIME | head -n 1) * 1000 - 3000)),\"command\":\"./deploy.sh --environment production\",
        \"note\":\"https://gitlab.example.com/web/-/jobs/101\"}"
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

@test "of many who wait the first five are shown, with -v all" {
    redis HSET x "$JAVA" 1
    local i
    for i in {1..8}; do
        redis RPUSH 'redisson_lock_queue:{x}' "$JAVA$i"
        redis ZADD 'redisson_lock_timeout:{x}' 9999999999999 "$JAVA$i"
    done
    run -0 --separate-stderr rlock status x
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
    refute grep $'\e' <(rlock status x)
}
