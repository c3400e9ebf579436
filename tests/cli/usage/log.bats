#!/usr/bin/env bats
# log.bats: what --log json and -v tell. What happens is provoked for real; rlock(7) says what is told of it.
# shellcheck disable=SC2086 # rows of words

load ../../lib/rlock

# told EXPRESSION: a Python expression over `events`, the objects of the file log, holds.
told() {
    python3 -c '
import json, sys
events = [json.loads(line) for line in open("log")]
names = [event["event"] for event in events]
def of(name):
    return [event for event in events if event["event"] == name]
assert eval(f"({sys.argv[1]})"), events
' "$1"
}

# logged ARG...: rlock by itself, its objects at the end of the file log.
logged() {
    status=0
    echo 'log = json' >json.conf
    RLOCK_CONFIG=json.conf rlock "$@" 2>>log || status=$?
}

# documented: "EVENT MEMBER" for each member of each event in rlock(7), "EVENT" alone for the event.
documented() {
    awk '
        /^\.Sh/ { here = /^\.Sh THE LOG/ }
        !here { next }
        /^\.It Cm/ { gsub(/^\.It Cm | Pq .*|,/, ""); count = split($0, events, " ")
            for (i = 1; i <= count; i++) print events[i] }
        /^\.Li/ && members { gsub(/^\.Li |,/, ""); n = split($0, words, " ")
            for (i = 1; i <= count; i++) for (j = 1; j <= n; j++) print events[i], words[j] }
        { members = /^Members:/ }' "$PROJECT/man/rlock.7" | sort -u
}

# emitted: the same of the objects in the file log.
emitted() {
    python3 -c '
import json
for line in open("log"):
    event = json.loads(line)
    print(event["event"])
    for member in event.keys() - {"time", "level", "event", "message"}:
        print(event["event"], member)
' | sort -u
}

@test "acquired, renewed, released, timed out: with durations, owner, token and signal; each name has its own" {
    logged run -l "$(ms 600)" -n x -- sleep $((350 * SLOW))e-3
    told 'names[0] == "acquired" and names[-1] == "released" and set(names[1:-1]) == {"renewed"}'
    told '"note" not in {member for event in events for member in event}' # where nobody gave one
    told 'all(event["name"] == "x" and event["kind"] == "run" and event["token"] == 1
              and event["server"].startswith("unix:///") and event["owner"].count("@") == 1
              and event["level"] == "debug" for event in events)'
    told "0 < events[0]['lease_left_ms'] <= 600 * $SLOW and events[0]['waited_ms'] >= 0"
    # A third of the lease after it was asked for, which was before it was held.
    told "events[0]['waited_ms'] + of('renewed')[0]['held_ms'] >= 200 * $SLOW - 5"
    told "of('released')[0]['held_ms'] >= of('released')[0]['ran_ms'] >= 350 * $SLOW - 5"
    told "of('released')[0]['waited_ms'] == events[0]['waited_ms']"
    rm log
    redis SET "redisson_lock_token:{b}" 41
    logged run -n b -n a --min-hold 1h -- true
    told '[(event["event"], event["name"], event["token"]) for event in events] ==
          [("acquired", "a", 1), ("acquired", "b", 42), ("released", "a", 1), ("released", "b", 42)]'
    told 'all(3590000 < event["kept_ms"] <= 3600000 for event in of("released"))'
    logged run -n x --timeout "$(ms 100)" -- sleep 60
    logged run -n x --timeout "$(ms 100)" --kill-after 0 -c 'trap "" TERM; sleep 60'
    told '[(event["timeout_ms"], event["signal"]) for event in of("timeout")] == [(100 * '"$SLOW"', 15), (100 * '"$SLOW"', 9)]'
}

@test "-v says the same in words, and nothing of it is said without" {
    try run -v -l "$(ms 600)" -n x -- sleep $((350 * SLOW))e-3
    assert_regex "$stderr" "^rlock: using $RLOCK_SERVER, from RLOCK_SERVER"$'\n'"rlock: acquired x on $RLOCK_SERVER after [0-9]+m?s: token 1
rlock: renewed x on $RLOCK_SERVER: .* left
(.*
)?rlock: released x on $RLOCK_SERVER after [0-9.]+m?s\$"
    try run -l "$(ms 600)" -n x -- sleep $((350 * SLOW))e-3
    assert_equal "$stderr" ""
}

@test "the server answers again: who holds the lock is told then, not with the next line" {
    server_start lone
    hold x -s "$(server_url lone)" -l 10m
    freeze lone
    start run --log json -s "$(server_url lone)" --io-timeout "$(ms 200)" -n x -- true
    wait_until 10 grep -q '"retrying"' err
    thaw lone
    wait_until 10 grep -q '"waiting"' err
    let_go x
    reap "$pid"
    mv err log
    told 'names.count("waiting") == 1 and of("waiting")[0]["holder"] != ""'
}

@test "a renewal that fails is told once, not at each try, and its success; soon after, a second one by the log alone" {
    local n who flaky
    local -A rlock_of
    server_start lone
    flaky=(run -s "$(server_url lone)" --io-timeout "$(ms 200)" -l "$(ms 4000)")
    for who in plain 'quiet -q' 'json --log json'; do
        log=${who%% *} start "${flaky[@]}" -n $who -- sleep 60
        rlock_of[${who%% *}]=$pid
    done
    wait_until 5 eval '[[ $(redis_on lone EXISTS plain quiet json) == 3 ]]'
    for n in 1 2; do
        freeze lone
        wait_until 8 eval '[[ $(grep -c "\"event\":\"retrying\"" json.err) == "$n" ]]'
        sleep $((300 * SLOW))e-3 # the others renew at about the same time
        thaw lone
        wait_until 5 eval 'tail -n 1 json.err | grep -q "\"event\":\"renewed\""'
        ((n == 2)) || wait_until 5 grep -q 'again after' plain.err
    done
    assert_regex "$(head -n 2 plain.err)" "^rlock: cannot renew plain on $(server_url lone): .*; trying again, [0-9.ms]+ left
rlock: renewed plain on $(server_url lone) again after [0-9.ms]+: [0-9.ms]+ left\$"
    assert_equal "$(grep -c 'cannot renew plain' plain.err)$(cat quiet.err)" 1
    server_stop lone
    for who in "${!rlock_of[@]}"; do
        reap "${rlock_of[$who]}"
        assert_equal "$who: $status" "$who: 76"
        [[ $who == json ]] || assert_regex "$(tail -n 1 "$who.err")" "^rlock: lost $who on unix://"
    done
    mv json.err log
    told 'names.count("retrying") == 3 and names[-1] == "lost" and names.count("lost") == 1'
    told 'all(event["level"] == "warning" and event["reason"] != "" and event["lease_left_ms"] > 0 for event in of("retrying"))'
    told 'of("lost")[0]["level"] == "error" and of("lost")[0]["held_ms"] > 0'
}

# Everything that can be told, once.
provoke() {
    local first later
    export CI_JOB_URL=https://ci/7
    logged run -s "unix://$PWD/none" --connect-timeout "$(ms 100)" -n x -- true
    logged run -l "$(ms 600)" -n x --min-hold "$(ms 700)" -- sleep $((300 * SLOW))e-3
    foreign_hold y 60000
    redis HSET 'rlock_info:{y}' "$(redis HKEYS y)" '{"note":"https://ci/6"}' >/dev/null
    logged fair -n y -w "$(ms 300)" -- true
    log=first start fair --log json --supersede -n y -- true
    first=$pid
    wait_until 5 waiters y 1
    log=later start fair --log json --supersede -n y -- true
    later=$pid
    reap "$first"
    kill -TERM "$later"
    reap "$later"
    logged run -l "$(ms 600)" -n gone -- sh -c "redis-cli -s ${RLOCK_SERVER#unix://} DEL gone >/dev/null; sleep 60"
    redis SET text text
    logged run -n text -- true
    logged run -n job --once-per 1h -- true
    logged run -n job --once-per 1h -- true
    logged run -n x -- no-such-command
    logged run -n x --timeout "$(ms 100)" -- sleep 60
    logged latch down -n gate
    logged latch set -n gate --count 2
    logged latch set -n gate --count 2
    logged latch wait -n gate -w "$(ms 100)"
    logged latch down -n gate --by 2 -- true
    logged run --no-renew -l "$(ms 300)" -n late -- sleep 60
    logged latch wait -n gate
    logged sem -n pool --resize 3
    logged run -n x -- env -u RLOCK_HOLDS "$RLOCK" run --log json -w "$(ms 300)" -n x -- true # its own ancestor
    server_start lone
    logged run -s "$(server_url lone)" -l "$(ms 600)" --kill-after "$(ms 10)" -n x -- sh -c \
        "redis-cli -s $BATS_FILE_TMPDIR/lone/sock SHUTDOWN NOSAVE || :"
    server_stop lone
    server_start lone
    log=away start run --log json -s "$(server_url lone)" -l "$(ms 1500)" -n x -- sleep 60
    wait_until 5 grep -q acquired away.err
    server_stop lone
    reap "$pid"
    log=way start run --log json --preemptible -n x -- sh -c ':>held; exec sleep 60'
    wait_until 5 test -e held
    logged fair --preempt -n x -- true
    reap "$pid"
    cat first.err later.err away.err way.err >>log
}

@test "each event of rlock(7) is told, with the members that stand there, and no others" {
    local event
    provoke
    # What other commands tell is provoked in their own tests.
    diff <(documented | grep -E "^($(emitted | grep -v ' ' | paste -sd '|'))( |$)") <(emitted)
    for event in waiting retrying acquired latch_open renewed lost released release_unconfirmed busy superseded \
        skipped preempting preempted interrupted failed timeout 'set' counted missing resized message; do
        emitted | grep -qx "$event" || fail "nothing told '$event'"
    done
}

@test "busy and waiting name the holder and its note, or of a latch the count, whoever waits" {
    local words
    hold x --note why
    rlock latch set -n gate --count 2
    for words in "wait -w $(ms 200) x" "fair -n x -w $(ms 200) -- true"; do
        : >log
        logged $words
        told 'names == ["waiting", "busy"] and all(event["holder_note"] == "why" and "@" in event["holder"]
              and event["kind"] in ("run", "fair") and event["server"] for event in events)'
    done
    for words in "wait -w $(ms 200) gate" "latch wait -n gate -w $(ms 200)"; do
        : >log
        logged $words
        told 'names == ["waiting", "busy"] and all(event["count"] == 2 and event["kind"] == "latch" for event in events)'
    done
    let_go x
}

failed_once() { # [STATUS]: one such object, with that exit status
    assert_equal "$(grep -c '"event":"failed"' log)" 1 && grep -q "\"exit_status\":${1-[0-9]*}[,}]" log
}

@test "each failure is the event failed with the exit status, whatever it is that fails" {
    local words
    redis SET text text
    redis SET number 3
    printf 'lease = soon\n' >bad.conf
    rlock latch set -n gate --count 1
    hold busy
    while read -r words; do
        : >log
        eval "logged $words" >/dev/null </dev/null
        ((status > 0)) || fail "$words"
        failed_once "$status" || fail "$status: $words: $(cat log)"
    done <<-'EOS'
	run -n a -h host -- true
	run -n '' -- true
	nope
	-h -s
	run -s unix:///none --connect-timeout 100ms -n a -- true
	run -s redis://h:x -n a -- true
	run -s local:/proc/none -n a -- true
	run -s local:/dev/null/none -n a -- true
	run --password-file /none -s redis://h -n a -- true
	run --tls-cert /none --tls-key /none -s rediss://h -n a -- true
	run -s unix:///a -s unix:///a -s unix:///a -n a -- true
	run -n text -- true
	run -n a -- no-such-command
	run -n a -- /
	read -n busy -x -- true
	sem -n new -- true
	sem -n pool --permits 1 --take 2 -- true
	latch down -n text
	latch wait -n text
	latch set -n text --count 1
	latch down -n gate -- no-such-command
	acquire run -n a --while 999999999
	acquire run -n a >/dev/full
	status >/dev/full -s unix:///none --connect-timeout 100ms
	status text
	doctor -s unix:///none --connect-timeout 100ms
	doctor -s unix:///none -s unix:///nothing -s unix:///nowhere --connect-timeout 100ms
	break busy
	break --force free
	break --force text
	break --force number
	break --force gate
	break --force --owner nobody busy
	check
	check rlock1.x
	release ''
	EOS
    unset RLOCK_SERVER
    : >log
    logged run -n a -- true
    failed_once 78
    let_go busy
}

@test "mistakes are told in the form that was asked for, behind them or in a file, too" {
    local words
    unset RLOCK_CONFIG
    for words in 'run -n a -w x --log json -- true' 'run --nope --log=json -n a -- true' 'run --log json -n a' \
        'status -h h --log json' 'run --lo json -n -- true'; do
        rlock $words 2>log || true
        failed_once || fail "$words"
    done
    rlock run -n a -w x -- true --log json 2>log || true
    assert_equal "$(wc -l <log)" 1
    run ! grep '"event"' log # the command's word
    for words in 'nope = 1\nlog = json' 'log = json\nnope' 'lease = x\nlog = json\nserver = x' '\001\nlog = json'; do
        printf '%b\n' "$words" >some.conf
        RLOCK_CONFIG=some.conf rlock run -n a -- true 2>log || true
        failed_once || fail "$words"
        RLOCK_CONFIG=some.conf rlock run --log text -n a -- true 2>log || true
        run ! grep '"event"' log
    done
    printf 'log = json\n' >some.conf
    for words in nope -h\ h '' 'latch nope' 'help nope'; do
        RLOCK_CONFIG=some.conf rlock $words 2>log || true
        failed_once || fail "$words"
    done
}

@test "each event in the source is in rlock(7), and the other way round" {
    # In the source an event's word follows its level, an OUT_ one.
    assert_equal "$({ echo message; tr '\n' ' ' <<<"$(cat "${RLOCK_SOURCE_DIR:-$PROJECT}"/cmd/{,*/}*.c)" |
        grep -oE '\<[A-Za-z_]+\([^;"{]*\<OUT_(ERROR|WARNING|INFO|DEBUG)\>[^;"{]*("[a-z_]+"( : "[a-z_]+")?)' | grep -oE '"[a-z_]+"' | tr -d '"'; } | sort -u)" \
        "$(documented | grep -v ' ' | sort -u)"
}
