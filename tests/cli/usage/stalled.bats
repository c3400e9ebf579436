#!/usr/bin/env bats
# stalled.bats: messages and handles for a stream that nobody reads: a stalled terminal, a full pipe or socket, a
# log at its size limit. They cost a line, never the lock, a signal or the command's time.
# shellcheck disable=SC2086 # an option, or none

load ../../lib/rlock

# onto STATUS KIND ROOM ARG...: rlock ends so, its standard error (with to=--stdout: output) being that stream, with room
# for ROOM bytes. Sets output to what the stream took.
to=
onto() {
    run python3 "$TOOLS/stalled.py" $to --timeout $((20 * SLOW)) "$2" "$3" "$RLOCK" "${@:4}"
    echo "$output"
    assert_equal "$status: ${*:2}" "$1: ${*:2}"
}

# The same in the background: pid is stalled.py's, rlock its child.
start_onto() {
    rm -f stalled.pid
    python3 "$TOOLS/stalled.py" $to --timeout $((60 * SLOW)) "$1" "$2" "$RLOCK" "${@:3}" >out 3>&- 4>&- &
    pid=$!
    wait_until 10 test -s stalled.pid
    rlock_pid=$(cat stalled.pid)
}

# each_line_whole: output has whole messages only.
each_line_whole() {
    local line
    while IFS= read -r line; do
        [[ -z $line || $line =~ ^rlock:\ (using|acquired|renewed|released|waiting|took|cannot|lost)\ .* ]] || fail "cut: $line"
        [[ ! $line =~ ^rlock:\ renewed || $line =~ left$ ]] || fail "cut: $line"
    done <<<"$output"
}

# term_ends KIND: so, and soon, with the lock given back.
term_ends() {
    local spent added
    kill -TERM "$rlock_pid"
    within 1500 reap "$pid" 5
    assert_equal "$1: $status" "$1: 143"
    wait_until 5 assert_free x
}

@test "a holder's messages: the command ends as it does, and the lock is given back" {
    local kind room spent added
    for kind in tty pipe socket file; do
        for room in 0 90 700; do
            within $((1600 + 400 * SLOW)) \
                onto 7 "$kind" "$room" run -v -l "$(ms 600)" -n x -- sh -c "sleep $((400 * SLOW))e-3; exit 7"
            [[ $kind == tty ]] || each_line_whole
            assert_free x
        done
    done
}

@test "a signal for rlock reaches the command" {
    local kind
    for kind in tty pipe socket file; do
        rm -f ready
        start_onto "$kind" 100 run -v -l "$(ms 300)" -n x -- sh -c ': >ready; exec sleep 60'
        wait_until 10 test -e ready
        term_ends "$kind"
    done
}

@test "a waiter: it takes the lock when it is free, gives up in time, and ends by a signal" {
    local kind spent added
    for kind in tty pipe socket file; do
        foreign_hold x 60000
        within $((1300 * SLOW + 2200)) onto 75 "$kind" 10 run -v -w "$(ms 1300)" -n x -- true
        start_onto "$kind" 10 run -v -n x -- sh -c ': >ran'
        wait_until 10 waiters x 1
        foreign_release x
        reap "$pid" 5
        assert_equal "$kind: $status" "$kind: 0"
        assert_file_exist ran
        rm ran
        foreign_hold x 60000
        start_onto "$kind" 10 fair -n x -- true
        wait_until 10 waiters x 1
        kill -TERM "$rlock_pid"
        within 1500 reap "$pid" 5
        assert_equal "$kind: $status" "$kind: 143"
    done
}

@test "objects of names that are no UTF-8: whole lines that a pipe takes at once" {
    local name note
    name=$(printf '\351%.0s' {1..512})
    note=$(printf '\351%.0s' {1..256})
    onto 0 pipe 9000 run --log json -l "$(ms 300)" --note "$note" -n "$name" -- sleep "0.$((SLOW > 1 ? 9 : 5))"
    python3 - "$output" <<-'END'
	import json, sys
	lines = sys.argv[1].splitlines()
	assert lines and json.loads(lines[0])["event"] == "acquired", lines
	for line in lines:
	    assert len(line.encode()) < 4096 and json.loads(line)["note"], line
	END
}

@test "a handle that nobody reads: a signal ends the wait; for a file at its limit: 71; the lock is given back" {
    local kind keeper
    to=--stdout
    for keeper in '' "--while $$"; do
        for kind in tty pipe socket; do
            start_onto "$kind" 0 acquire run -n x -l 10m $keeper
            wait_until 10 assert_held x
            term_ends "$kind"
        done
        onto 71 file 10 acquire run -n x -l 10m $keeper
        wait_until 5 assert_free x
    done
}

@test "the keeper of --while, latch down with a command, and what holds nothing: it costs its lines only" {
    local kind handle spent added
    for kind in tty pipe socket file; do
        within 4000 onto 0 "$kind" 0 acquire run -v -n x -l "$(ms 600)" --while $$
        redis DEL x
        rlock latch set -n l --count 1
        within 4000 onto 0 "$kind" 0 latch down -v -n l -- true
        wait_until 5 none_marked "TEST_MARK=$TEST_MARK"
    done
    handle=$(rlock acquire run -n x -l 10m)
    for kind in renew:0 check:0 release:0 release:76; do
        onto "${kind#*:}" file 5 "${kind%:*}" -v "$handle"
    done
    assert_free x
}

@test "stty tostop: a job in the background is not stopped by its own messages" {
    stty_job='stty tostop; set -m; "$0" run -v -l "$1" -n x -- sh -c "sleep 1; : >ran" & wait'
    python3 "$TOOLS/terminal.py" --timeout $((20 * SLOW)) -- bash -c "$stty_job" "$RLOCK" "$(ms 300)"
    assert_file_exist ran
}
