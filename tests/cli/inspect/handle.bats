#!/usr/bin/env bats
# handle.bats: a lock that is left held: taken, renewed, looked for and given back by its handle.
# shellcheck disable=SC2086 # kinds of several words

load ../../lib/rlock
load ../../lib/handles
load ../../lib/status

# quietly VERB [ARG...]: of the handle; it succeeds, and says nothing.
quietly() {
    try "$@" "$handle"
    assert_equal "$kind: $status $output$stderr" "$kind: 0 "
}

@test "each kind: held for its lease, renewed, given back, and nothing left; check says how long, and writes nothing" {
    local kind before
    for kind in run fair read write 'sem --permits 2 --take 2'; do
        redis FLUSHALL
        acquire $kind -l 1m
        assert_equal "$stderr" ""
        before=$(changes)
        quietly check
        quietly check --min-ttl 50s
        ends_saying 1 x "only, not 1m1s" -- check "$handle" --min-ttl 61s
        try check -v "$handle"
        assert_stderr_has "x is held for 5"
        assert_equal "$(changes)" "$before"
        try run -x -n x -- true
        assert_regex "$kind: $status" ': (65|75)$'
        quietly renew -l 1h
        quietly check --min-ttl 50m
        quietly release
        before=$(changes)
        try check -q "$handle"
        assert_equal "$kind: $status $output$stderr" "$kind: 1 "
        assert_equal "$(changes)" "$before"
        [[ $kind != sem* ]] || redis DEL x
        assert_no_keys
    done
}

@test "--export: the handle and the token, for eval and an environment file" {
    local RLOCK_HANDLE RLOCK_TOKEN words token
    redis SET 'redisson_lock_token:{x}' 41
    helper sleep 60
    while IFS='|' read -r token words; do
        try acquire $words --export
        assert_equal "$(grep -cE '^RLOCK_(HANDLE=[A-Za-z0-9._-]+|TOKEN=[0-9,]+)$' <<<"$output") ${#lines[@]}" "2 2"
        eval "$output"
        assert_equal "$RLOCK_TOKEN" "$token"
        rlock check "$RLOCK_HANDLE"
        rlock release "$RLOCK_HANDLE"
    done <<END
42|run -n x -l 5m
1,1|write -n b -n a -l 5m
43|run -n x --while $!
END
}

@test "it ends with its lease, and is renewed for its own" {
    echo 'lease = 9m' >"$RLOCK_CONFIG"
    acquire run -l 5m
    redis PEXPIRE x 1000
    rlock renew "$handle"
    (($(redis PTTL x) > 290000 && $(redis PTTL x) <= 300000)) || fail "$(redis PTTL x) ms left"
    try renew -v -l 1s "$handle" # is not shortened by that
    assert_stderr_has 'renewed x: at least 1s left'
    (($(redis PTTL x) > 200000)) || fail "$(redis PTTL x) ms left"
    rlock release "$handle"
    acquire run -l 100ms
    wait_until 3 assert_free x
    assert_lost "nobody has taken it since" -- renew "$handle"
}

@test "a name of any bytes needs no quotes in its handle, which has no password in it" {
    local name=$'a b\'"$;`*{ä}~%'
    server_start guarded --requirepass sesame
    handle=$(RLOCK_PASSWORD=sesame rlock acquire run -n "$name" -s "$(server_url guarded)")
    assert_regex "$handle" '^[A-Za-z0-9._-]+$'
    run -0 python3 -c 'import base64, sys
print(base64.urlsafe_b64decode(sys.argv[1].split(".")[1] + "===")[:-4].decode())' "$handle"
    refute_output --partial sesame
    assert_output --partial "$name"
    assert_output --partial "$BATS_FILE_TMPDIR/guarded/sock"
    unset RLOCK_SERVER
    RLOCK_PASSWORD=sesame rlock release "$handle"
    run -77 rlock release "$handle"
}

@test "what is no handle, or not all of one: 64, and nothing is sent" {
    local verb wrong
    acquire run
    for verb in renew release check; do
        for wrong in "${handle%?}" x; do # each change of it: unit/lock/test_handle.c
            assert_usage HANDLE "rlock acquire" -- "$verb" "$wrong"
        done
        assert_usage HANDLE 'it is empty' -- "$verb" ''
        assert_usage 'too many' -- "$verb" "$handle" "$handle"
        [[ $verb == check ]] || assert_usage HANDLE "rlock $verb HANDLE" -- "$verb"
        [[ $stderr != *"$handle"* ]] || fail "a handle was told"
    done
    assert_usage --min-ttl -- check --min-ttl -1 "$handle"
    assert_usage latch -- acquire latch -n x
    assert_usage --plain -- acquire sem -n x --permits 1 --plain
    assert_usage command -- acquire run -n x -- true
    rlock release "$handle"
}

@test "several names: all of them, or none: 75, or as -E says, and no handle" {
    handle=$(rlock acquire run -n c -n a -n b)
    assert_equal "$(redis EXISTS a b c)" 3
    ends_saying 75 'held by' -- acquire run -x -n b -n d
    assert_equal "$output" ""
    run -9 rlock acquire run -w 100ms -E 9 -q -n b -n d
    assert_output ""
    redis DEL b 'rlock_hold:{b}' 'rlock_info:{b}'
    ends_saying 1 "b is not ours any more" -- check "$handle"
    ends_saying 76 "renew b" -- renew "$handle"
    ends_saying 76 "release b" -- release "$handle"
    assert_no_keys
}

@test "given back and stolen are told apart, and who has it now is named" {
    acquire run -l 1m
    rlock release "$handle"
    assert_lost "cannot release x" "nobody has taken it since" -- release "$handle"
    hold x
    assert_lost "cannot renew x" "held by" "pid $holder" -- renew "$handle"
    assert_lost "held by" "pid $holder" -- release "$handle"
    ends_saying 1 "pid $holder" -- check "$handle"
    assert_held x
    let_go x
    reap "$holder"
    assert_lost "others have taken it since" -- release "$handle"
    foreign_hold x 60000
    assert_lost "held by $foreign_owner" -- release "$handle"
    assert_held x
}

@test "check without a handle: the lock around us, of each kind; outside of any 64" {
    local kind
    for kind in run fair read write 'sem --permits 2 --take 2' 'sem --permits 2 --take 2 --plain'; do
        redis FLUSHALL
        try $kind -n x -- "$RLOCK" check -v
        assert_equal "$kind: $status" "$kind: 0"
        assert_stderr_has "x is held"
        try $kind -n x --on-lost warn -- sh -c 'redis-cli -s "$0" FLUSHALL; rlock check' "$BATS_FILE_TMPDIR/main/sock"
        assert_stderr_has "x is not ours any more"
    done
    redis FLUSHALL
    try run -n a -n b -- rlock fair -n x -- sh -c 'redis-cli -s "$0" DEL b; rlock check -v' "$BATS_FILE_TMPDIR/main/sock"
    assert_stderr_has "x is held"
    assert_usage HANDLE "rlock check HANDLE" -- check
    run -64 rlock latch wait -q -n nothing -- "$RLOCK" check
}

@test "check without a handle inside a latch's command: all names of the lock around that" {
    local verb name
    rlock latch set -n l --count 9
    for verb in down wait; do
        [[ $verb == down ]] || redis DEL l
        for name in none ma mb; do
            try run -n o -- rlock run -n ma -n mb --on-lost warn -- rlock latch $verb -q -n l -- sh -c \
                'redis-cli -s "$0" DEL "$1" >/dev/null; rlock check -q; echo "check: $?"' "$BATS_FILE_TMPDIR/main/sock" "$name"
            assert_output "check: $([[ $name == none ]]; echo $?)"
        done
    done
}

@test "a handle of a hold inside another gives back its own alone" {
    try run -n x -- sh -c 'h=$(rlock acquire run -x -n x) && rlock check $h && redis-cli -s "$0" HVALS x &&
        rlock renew $h && rlock release $h && redis-cli -s "$0" HVALS x && ! rlock check -q $h && rlock check' \
        "$BATS_FILE_TMPDIR/main/sock"
    assert_success
    assert_output $'2\n1'
    assert_no_keys
}

@test "a handle that cannot be written: 71, and the lock is given back; other streams may be closed" {
    local how
    for how in '"$0" acquire run -n x >&-' 'exec 7> >(:); wait $!; "$0" acquire run -n x >&7'; do
        run --separate-stderr bash -c "$how" "$RLOCK"
        assert_equal "$how: $status" "$how: 71"
        assert_message
        assert_no_keys
    done
    run -0 bash -c '"$0" acquire run -n x <&- 2>&-' "$RLOCK"
    rlock release "$output"
}

@test "the handle knows the server, which every other source overrules" {
    acquire run
    unset RLOCK_SERVER
    rlock check "$handle"
    run -69 rlock check -s "unix://$PWD/nowhere" --connect-timeout 50ms "$handle"
    RLOCK_SERVER=unix://$PWD/nowhere run -69 rlock check --connect-timeout 50ms "$handle"
    echo "server = unix://$PWD/nowhere" >"$RLOCK_CONFIG"
    ends_saying 69 nowhere -- release --connect-timeout 50ms "$handle"
    RLOCK_SERVER=$(server_url main) rlock release "$handle"
}

@test "a handle of another server: where the lock may be is said" {
    acquire run
    server_start other
    RLOCK_SERVER=$(server_url other) ends_saying 76 "or it is where its handle is of, $(server_url main)" -- release "$handle"
    rlock release "$handle"
}

@test "the log tells of each name what became of it" {
    local verb
    told() { # EVENT NAME
        grep -E "\"event\":\"$1\".*\"name\":\"$2\",\"kind\":\"run\",\"server\":\"unix://.*\"owner\":\"[^\"]*@.*\"token\":1\b" \
            <<<"$stderr"
    }
    try acquire run --log json -n a -n b
    handle=$output
    told acquired a
    told acquired b
    for verb in check:held renew:renewed release:released release:lost; do
        try "${verb%:*}" --log json "$handle"
        told "${verb#*:}" b
        [[ $verb == *lost ]] || told "${verb#*:}" a
    done
}

@test "lost replies: a renewal and a release are sent again, and nothing twice" {
    local verb
    proxy_start
    acquire run -l 1m
    for verb in renew check release; do
        proxy lose-reply "$(sha $verb)" 1
        try $verb "$handle"
        assert_equal "$verb: $status: $stderr" "$verb: 0: "
    done
    assert_bitten lost-reply 3
    assert_no_keys
}
