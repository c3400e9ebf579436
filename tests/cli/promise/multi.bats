#!/usr/bin/env bats
# multi.bats: several names are all held, or none; users of the same names never deadlock.

load ../../lib/rlock
load ../../lib/kinds

@test "names, owners and tokens: one a line, in the order of bytes, each name once" {
    rlock run -n b -- true
    try run -n b -n a -n B -n b -- sh -c 'echo "$RLOCK_NAME"; echo "$RLOCK_TOKEN"; echo "$RLOCK_OWNER" | wc -l
        for n in B a b; do '"redis-cli -s '${RLOCK_SERVER#unix://}'"' HKEYS $n; done >real; echo "$RLOCK_OWNER" >told'
    assert_success
    assert_output $'B\na\nb\n1\n1\n2\n3'
    assert_equal "$(cat told)" "$(cat real)" # all are held
    assert_no_keys
}

@test "one of them is busy, or of another kind: none is taken, and no place is kept" {
    foreign_hold b 60000
    ends_saying 75 b -- run -x -n a -n b -n c -- touch ran
    took 500 1500 rlock run -w 500ms -n a -n b -n c -- touch ran
    assert_failure 75
    wait_until 5 no_subscriptions
    assert_keys b
    redis SET b 5
    ends_saying 65 b -- run -n a -n b -n c -- touch ran
    assert_equal "$(keys_left) $(redis GET b)" "b 5"
}

@test "while one is waited for, the others are free, hold nobody back, and have no line, of each kind" {
    local kind
    for kind in run fair write; do
        rm -f let-go ran
        first_holds "$kind"
        start "$kind" -n a -n x -n y -- touch ran
        wait_until 5 waited_for
        wait_until 10 eval '! keys_left | grep -qvx -e x -e ".*{x}.*"'
        rlock "${rival[$kind]}" -x -n a -n y -- true
        : >let-go
        reap "$pid"
        assert_equal "$kind: $status" "$kind: 0"
        assert_file_exist ran
        reap "$first"
        assert_no_keys
    done
}

@test "one of them is lost while the command runs: 76, the rest given back" {
    start run -l "$(ms 900)" -n a -n b -- "$SECTION" --log history --until never
    wait_until 10 test -s history
    redis DEL b
    reaps 76 "$pid"
    stderr=$(cat err)
    assert_stderr_has b
    assert_no_keys
}

# sections LOG NAME NAME: 15 one after the other, of both names.
sections() {
    local n
    for n in {1..15}; do
        rlock run -q -n "$2" -n "$3" -- "$SECTION" --log "$1" || return 1
    done
}

@test "crossed order never deadlocks, and excludes" {
    local one two
    sections history a b 3>&- 4>&- &
    one=$!
    sections history b a 3>&- 4>&- &
    two=$!
    sections history b a
    reaps 0 "$one" 60
    reaps 0 "$two" 60
    check_history --min-sections 45 history
    assert_no_keys
}

@test "forty names over a line of 40 ms, with a lease of 1500 ms: all are renewed, and given back" {
    local -a names
    mapfile -t names < <(printf -- '-n\nm%d\n' {0..39})
    proxy_start
    proxy lag 40
    rlock run "${names[@]}" -l "$(ms 1500)" -- sleep "$(awk "BEGIN { print 2 * $SLOW }")"
    wait_until 5 assert_no_keys
}

# As many as a slow build, too, can give back in the time that a signal leaves it.
@test "six hundred names over a line of 50 ms, and one of them is busy: the others are free, and a signal ends it" {
    local -a names
    last=$((600 / SLOW - 1))
    mapfile -t names < <(seq -f $'-n\nm%.0f' 0 "$last")
    proxy_start
    proxy lag 50
    foreign_hold z 60000
    run -75 rlock run -x "${names[@]}" -n z -- true
    assert_keys z
    start run "${names[@]}" -n z -- true
    wait_until 20 waiters z 1
    wait_until 10 eval '[[ $(redis EXISTS m0 m100 "m$last" z) == 1 ]]'
    wait_until 10 rlock run -x -s "$(server_url main)" -n m0 -n "m$last" -- true # it tries once more when it listens
    assert_ends_within_a_second
    assert_keys z
    start run "${names[@]}" -- sleep 60 # and while they are taken
    wait_until 20 assert_held m0
    assert_ends_within_a_second
    assert_keys z
}

@test "a server that falls silent while forty names are waited for, or taken: a signal ends it within a second" {
    local -a names
    mapfile -t names < <(printf -- '-n\nm%d\n' {0..39})
    proxy_start
    foreign_hold m39 60000
    start run "${names[@]}" --io-timeout 60s -- true
    wait_until 10 waiters m39 1
    proxy hang
    redis DEL m39 >/dev/null
    redis PUBLISH 'redisson_lock__channel:{m39}' 0 >/dev/null
    assert_ends_within_a_second
    redis FLUSHALL
    proxy pass
    proxy mute-request evalsha 1 1000
    start run "${names[@]}" -- true
    wait_until 5 assert_bitten lost-request
    assert_ends_within_a_second
}

@test "a name that could not be given back is said to stay held, though another one is busy" {
    rlock run -n a -n b -- true
    foreign_hold b 60000
    proxy_start
    proxy mute-request "$(sha release)" 1 1000
    ends_saying 75 'cannot take b' '; some of the names may stay held for up to 20s' -- run -x -l 20s -n a -n b -- touch ran
    assert_bitten lost-request
    assert_equal "$(redis EXISTS a)" 1
    try run -w "$(ms 300)" -l 20s -n b -- touch ran # it has a place in line, which is no hold
    assert_failure 75
    refute_regex "$stderr" 'may stay held'
    assert_bitten lost-request 2
    redis DEL a b >/dev/null
}

# By SIGTERM. What it, the server and the proxy have to do meanwhile, and wait for a processor, is the machine's.
assert_ends_within_a_second() {
    local spent busy
    read -r spent busy <<<"$(python3 -BSE "$TOOLS/ended.py" TERM "$pid" "$(server_pid main)" "${helper_pids[@]}")"
    reaps 143 "$pid"
    ((spent < 1000 + busy)) || fail "it took $spent ms, of which it was busy for $busy"
}

# names N: the options for so many names of 493 bytes.
long_names() {
    local i
    options=()
    for ((i = 0; i < $1; i++)); do
        options+=(-n "$(printf '%0493d' "$i")")
    done
}

@test "more names than a command's environment or a handle can hold: 64 before anything is sent; as many as fit" {
    long_names 280
    assert_usage 'too many names' '128 KiB' -- run "${options[@]}" -- touch ran
    assert_usage 'too many names' '128 KiB' -- acquire run "${options[@]}"
    long_names 199
    try run "${options[@]}" -- sh -c 'printf %s "$RLOCK_NAME" | wc -c; rlock check; rlock run -n inner -- rlock check'
    assert_success
    assert_output $((199 * 494 - 1))
    run -64 rlock run "${options[@]}" -- rlock run -n "$(printf '%0493d' 200)" "${options[@]}" "${options[@]}" -- true
    long_names 137
    handle=$(rlock acquire run "${options[@]}")
    rlock release "$handle"
} >/dev/null

@test "over a slow line, five that want the same two names, of which the second is busy, all get in" {
    local i pids=()
    all_wait() { (($(redis LLEN 'redisson_lock_queue:{b}') == 5)); }
    proxy_start
    proxy lag 10
    hold b
    for i in 1 2 3 4 5; do
        start fair -q -w "$(ms 15000)" -n a -n b -- true
        pids+=("$pid")
    done
    wait_until 10 all_wait
    let_go b
    for pid in "${pids[@]}"; do reaps 0 "$pid"; done
    assert_no_keys
}
