#!/usr/bin/env bats
# quorum_names.bats: two hundred names on three servers, one of which drops packets, hangs, or answers byte by byte:
# that costs no more than it does with one name, while they are held and at the end.

load ../../lib/rlock
load ../../lib/quorum

# beside ATTACK [TEXT]: a command of two leases under two hundred names, on m1, m2 and such a third server, costs no more
# than one name would.
beside() {
    local names spent
    mapfile -t names < <(seq -f $'-n\nn%g' 200)
    run --separate-stderr python3 "$TOOLS/hostile.py" "$@" "$RLOCK" run -l "$(ms 1300)" "${names[@]}" \
        -s "$(server_url m1)" -s "$(server_url m2)" -s 'redis://127.0.0.1:{}' -- sh -c "sleep $((3 * SLOW)); exit 5"
    # shellcheck disable=SC2154 # run sets it
    read -r status spent _ <<<"$output"
    assert_equal "$*: $status, $stderr" "$*: 5, "
    ((spent < 3900 * SLOW)) || fail "$*: $spent ms, of which the command $((3000 * SLOW))"
    wait_until 3 nothing_left
}

@test "it drops packets, hangs, or answers byte by byte" {
    quorum m1 m2
    beside full
    beside mute
    beside trickle '*3\r\n:1\r\n:17\r\n:30000\r\n'
}

@test "one is stopped while two hundred names are held, and wakes when they are given back: nothing is left on it" {
    local names
    quorum m1 m2 m3
    mapfile -t names < <(seq -f $'-n\nn%g' 200)
    start run "${names[@]}" -l "$(ms 1800)" -- sh -c 'touch in; $SECTION --until go; exit 5'
    wait_until 10 test -e in
    pause m3
    sleep "$((3 * SLOW))"
    : >go
    reaps 5 "$pid" 2
    assert_equal "$(cat err)" ""
    resume m3
    wait_until 3 nothing_left
}

# More than are asked about in one round of requests: 204 on five servers, 1024 on one.
@test "more names than a round has, and others hold the first: 75, which says so, and it is waited for in its line" {
    local names number servers
    foreign_on m1 m2 m3
    while read -r number servers; do
        mapfile -t names < <(seq -f $'-n\ny%g' "$number")
        # shellcheck disable=SC2086 # words
        RLOCK_SERVER=$(urls $servers)
        ends_saying 75 x "$foreign_owner" -- run -x -n x "${names[@]}" -- touch ran
        start run -q -n x "${names[@]}" -- true
        wait_until 5 eval '(($(redis_on m1 ZCARD "rlock_waiters:{x}") == 1))'
        kill "$pid"
        reaps 143 "$pid" 5
    done <<'END'
1100 m1
205 m1 m2 m3 m4 m5
END
    assert_file_not_exist ran
    only_foreign m1 m2 m3
}

@test "servers that give other tokens, and a slow line: all names agree on theirs at once" {
    local names i
    mapfile -t names < <(seq -f $'-n\nn%g' 100)
    for i in {1..100}; do
        echo "SET redisson_lock_token:{n$i} 50"
    done | redis_on m3 >/dev/null
    crash m2
    proxy_start m1
    proxy lag 50
    RLOCK_SERVER+=" $(urls m2 m3)"
    took 0 2500 rlock run "${names[@]}" -- sh -c 'echo "$RLOCK_TOKEN" | sort | uniq -c'
    assert_success
    assert_output --regexp '^ *100 51$'
    assert_equal "$(on m1 m3 -- GET 'redisson_lock_token:{n77}')" $'51\n51'
    alive=(m1 m3)
    nothing_left
}
