#!/usr/bin/env bats
# status.bats: what `rlock status` shows of each kind, as a table, as JSON, by its exit status; and that
# it writes nothing. status_all.bats: finding all locks; watch.bats: again and again; inspect.lua alone:
# lua/scripts.bats.

load ../../lib/rlock
load ../../lib/status
load ../../lib/actors

JAVA=77777777-2222-4333-8444-555555555555:7

# --- JSON ----------------------------------------------------------------------------------------

@test "a free name: state free, nobody, and nothing is known of it" {
    see x
    assert_equal "$seen" '[{"name":"x","kind":null,"state":"free","holders":[],"waiters":[],"permits":{"total":null,"available":null},"count":null,"token":null}]'
}

# has WHO NAME WORD...: an rlock WORD... of NAME, until the file over is there.
has() {
    local who=$1 name=$2
    shift 2
    log=$who start "$@" -n "$name" -q --note "by $who" -- sh -c ': >"$0-is-in"; until [ -e over ]; do sleep 0.05; done' "$who"
    pid_of["$who"]=$pid
}

# shown: what was seen, a line for each lock, holder and waiter; for a pid who that is, for this machine and user "here".
shown() {
    local who pids=()
    for who in "${!pid_of[@]}"; do
        pids+=("$who" "${pid_of[$who]}")
    done
    python3 -c 'import json, sys
seen, here, *pids = sys.argv[1:]
who = dict(zip(pids[1::2], pids[::2]))
def one(p, *words):
    at = "here" if f"{p['"'user'"']}@{p['"'host'"']}" == here else p["host"]
    print("   ", *words, who.get(str(p["pid"]), p["pid"]), at, p["note"], (p["command"] or "").split(" ")[0], "since" if p["since"] else None)
for lock in json.loads(seen):
    print(*(lock[key] for key in ("name", "kind", "state", "token", "count")), *lock["permits"].values())
    for h in sorted(lock["holders"], key=lambda h: h["token"] or 0):
        assert h["ttl_ms"] is None or 0 < h["ttl_ms"] <= 60000, h
        one(h, "holds", h["holds"], "token", h["token"], "permits", h["permits"])
    for w in lock["waiters"]:
        one(w, "waits", w["position"])' "$seen" "$(id -un)@$(uname -n)" "${pids[@]}"
}

all_wait() { # N
    (($(rlock status --json | grep -o '"position"' | wc -l) == $1))
}

@test "each kind, as JSON and in the table: who has it, who waits, and what there is to have; nothing is written" {
    local who holders=(a r1 r2 s) waiters=(b c w t)
    has a x run -l 20s
    has r1 rw read
    wait_until 10 test -e r1-is-in
    has r2 rw read
    has s s sem --permits 5 --take 2
    rlock latch set -n l --count 3
    redis HSET j "$JAVA" 2
    for who in "${holders[@]}"; do
        wait_until 10 test -e "$who-is-in"
    done
    has c x fair
    has b x run
    has w rw write
    has t s sem --take 4
    wait_until 10 all_wait 4
    see_unchanged s rw x l free j
    assert_equal "$(shown)" "$(cat <<-'END'
	s sem held 1 None 5 3
	    holds 1 token 1 permits 2 s here by s sh since
	    waits 1 t here by t sh since
	rw read held 2 None None None
	    holds 1 token 1 permits None r1 here by r1 sh since
	    holds 1 token 2 permits None r2 here by r2 sh since
	    waits 1 w here by w sh since
	x fair held 1 None None None
	    holds 1 token 1 permits None a here by a sh since
	    waits 1 c here by c sh since
	    waits 2 b here by b sh since
	l latch held None 3 None None
	free None free None None None None
	j run held None None None None
	    holds 2 token None permits None None None None  None
END
)"
    assert_seen "[h['owner'] for name in ('x', 'j') for h in by[name]['holders']]" "['$(redis HKEYS x)', '$JAVA']"
    run -0 --separate-stderr rlock status rw # where no terminal reads it, as long as it takes
    assert_line --index 0 --regexp '^NAME +KIND +STATE +WHO +PID +FOR +LEASE +TOKEN +COMMAND +NOTE$'
    assert_line --index 1 --regexp "^rw +read +held +$(id -un)@$(uname -n) +[0-9]+ +[0-9]+m?s +[0-9]+s +[12] +sh -c .*; done r[12] +by r[12]\$"
    assert_line --index 3 --regexp "^ +waits 1 +$(id -un)@$(uname -n) +${pid_of[w]} +[0-9]+m?s .*sh -c .* +by w\$"
    : >over
    gone 0 "${holders[@]}" "${waiters[@]}"
    rlock latch down -n l --by 3
    see x s l
    assert_equal "$(shown)" "$(printf '%s\n' 'x None free 3 None None None' 's sem free 2 None 5 5' 'l None free None None None None')"
    env -u LOGNAME -u USER "$RLOCK" acquire sem -n s --take 4 # the environment does not say whose
    rlock sem -n s --resize 2
    see s
    assert_seen "v[0]['permits'], v[0]['holders'][0]['user']" "({'total': 2, 'available': -2}, '$(id -un)')"
}

@test "since is the instant at which it was taken, in UTC; a token of 64 bits is told to its last digit" {
    local before after
    before=$(date -u +%FT%T.%3NZ)
    TZ=Asia/Tokyo holds a run
    after=$(date -u +%FT%T.%3NZ)
    TZ=Asia/Tokyo see x
    assert_seen "'$before' <= v[0]['holders'][0]['since'] <= '$after'" True
    redis SET 'redisson_lock_token:{x}' 9223372036854775807
    redis HSET 'rlock_info:{x}' "$(redis HKEYS x)" '{"token":9223372036854775806,"pid":1}'
    see x
    assert_seen 'v[0]["token"], v[0]["holders"][0]["token"]' "(9223372036854775807, 9223372036854775806)"
    finish a
}

@test "nested holds are one holder" {
    # shellcheck disable=SC2016
    try run -n x -l 1h -- "$RLOCK" run -n x -l 10s -- sh -c '"$0" status --json x; "$0" status x >table' "$RLOCK"
    assert_success
    seen=$output
    assert_seen '[(h["holds"], h["ttl_ms"] > 3500000) for h in v[0]["holders"]]' "[(2, True)]"
    grep -q 'held 2x .* 59m' table
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
        run -0 --separate-stderr rlock status x
        assert_line --regexp " kept( 1)? +$(id -un)@$(uname -n) +[0-9]+m?s +[0-9]+s? +sh -c : job\$"
        other=${kind/read/write}
        # shellcheck disable=SC2086
        ends_saying 75 "cannot take x: kept by --min-hold of $(id -un)@$(uname -n)" -- $other -x -n x -- true
        refute_regex "$stderr" pid
    done
}

@test "a pattern: all locks that it fits, the newest first; a lock of just that name comes first" {
    local name
    for name in deploy/web deploy/db build 'deploy/*' ; do
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
    run -0 --separate-stderr rlock status '*w*b'
    assert_line --index 1 --regexp '^deploy/web +run +held'
    assert_equal "${#lines[@]}" 2
}

@test "a name that is no lock: 65, and the others are shown" {
    redis SADD set 1
    ends_saying 65 set "no lock" -- status --json a set b
    seen=$output
    assert_seen '[l["name"] for l in v]' "['a', 'b']"
}

@test "-q: 0 free, 75 held, and nothing is printed" {
    local expected names
    foreign_hold b 60000
    while read -r expected names; do
        # shellcheck disable=SC2086
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

# by_rlock NAME COMMAND NOTE: held by root@web-01 for three seconds.
by_rlock() {
    redis HSET "$1" "$JAVA" 1
    redis PEXPIRE "$1" 27999
    redis HSET "rlock_info:{$1}" "$JAVA" "{\"host\":\"web-01\",\"user\":\"root\",\"pid\":30419,
        \"since\":$(($(redis TIME | head -n 1) * 1000 - 3000)),\"command\":\"$2\",\"note\":\"$3\"}"
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
    by_rlock short 'sleep 60' ''
    on_terminal 40 -- status short # what fits is whole
    assert_line --index 2 --regexp "^short  .* web-01 .*s"$'\r$'
    refute_output --partial '...'
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

# --- what goes wrong -----------------------------------------------------------------------------

@test "no server: 69" {
    ends_saying 69 "look at x" none -- status --connect-timeout 100ms -s "unix://$PWD/none" x y
    ends_saying 69 none -- status --connect-timeout 100ms -s "unix://$PWD/none"
}
