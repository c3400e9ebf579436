#!/usr/bin/env bats
# reentry.bats: a nested rlock of the same name re-enters by proof of owner and token; a stranger,
# or a process that outlived its hold, does not. The record of holds that it goes by: unit/hold/environment.

load ../../lib/rlock

setup() {
    rlock_setup
    export CLI="redis-cli -s ${RLOCK_SERVER#unix://}"
}

@test "nested, run in fair in run: enters at once, with the same owner and token, and gives back its own hold alone" {
    try run -n x -- sh -c 'tell="echo \"\$RLOCK_OWNER \$RLOCK_TOKEN\"; \$CLI HVALS x; \$CLI PTTL x"
        rlock fair -x -n x -l "$0" -- rlock run -x -n x -- sh -c "$tell"
        eval "$tell"
        env -u RLOCK_HOLDS rlock run -x -n x -- true; exit $?' "$(ms 500)"
    assert_failure 75 # the last one's, which is a stranger
    assert_equal "${lines[3]}" "${lines[0]}"
    assert_equal "${lines[1]} ${lines[4]}" "3 1"
    ((lines[2] > 20000 && lines[5] > 20000)) || fail "a short inner lease has shortened the outer one"
    assert_no_keys
    assert_equal "$(redis GET 'redisson_lock_token:{x}')" 1
}

@test "nested with -c, through other programs, other sessions and the background" {
    try run -n x -c 'echo begin | env A=b setsid --wait nice sh -c "rlock run -x -n x -c \"echo in\"" & wait'
    assert_success
    assert_output in
    assert_no_keys
}

@test "nested with other names between, and beside: those that are held are re-entered, the others taken" {
    try run -n x -- rlock run -n y -- rlock run -x -n w -n x -- rlock run -x -n y -- \
        sh -c 'for n in w x y; do $CLI HVALS $n; done; rlock run -x -n y -n w -c "echo \"\$RLOCK_TOKEN\""'
    assert_success
    assert_output $'1\n2\n2\n1\n1'
    assert_no_keys
}

@test "the inner rlock is killed: the outer hold stays, and all is free within a lease after it" {
    start run -n x -l "$(ms 1500)" -- sh -c '
        rlock run -n x -l "$1" -- sh -c "echo >ready; exec sleep 60" &
        until [ -s ready ]; do sleep 0.01; done
        kill -KILL $!
        exec "$0" --log history --beat beat --until let-go --exit 5' "$SECTION" "$(ms 500)"
    wait_until 10 test -s history
    run -75 rlock run -x -n x -- true # by a stranger
    alive_for 2000
    run -75 rlock run -x -n x -- true
    : >let-go
    reaps 5 "$pid"
    wait_until 2 assert_free x
    wait_until 2 assert_no_keys
}

@test "a process that outlived its hold is a stranger: others keep it out, and then it has a fresh owner and token" {
    rlock run -n x -- sh -c '($SECTION --until let-go
        rlock run -x -n x -- true; echo $? >first-try
        $SECTION --until free
        rlock run -x -n x -- sh -c "echo \$RLOCK_OWNER \$RLOCK_TOKEN" >late; echo $? >second-try) >/dev/null 2>&1 3>&- 4>&- &
        echo "$RLOCK_OWNER $RLOCK_TOKEN" >early'
    assert_no_keys
    hold x
    : >let-go
    wait_until 20 test -s first-try
    let_go x
    reap "$holder"
    : >free
    wait_until 20 test -s second-try
    assert_equal "$(cat first-try second-try | paste -sd ' ')" "75 0"
    assert_equal "$(cut -d ' ' -f 2 early late | tr '\n' ' ')" "1 3 "
    [[ $(cut -d ' ' -f 1 early) != $(cut -d ' ' -f 1 late) ]]
}

@test "the right owner with a wrong token is a stranger, and so is the right token with a wrong owner" {
    local edit edited
    for edit in 's/^[0-9]* /999 /' 's/ [^:]*:/ 11111111-2222-4333-8444-555555555555:/'; do
        edited=(sh -c 'RLOCK_HOLDS=$(echo "$RLOCK_HOLDS" | sed "$0") rlock run -x -n x -- true' "$edit")
        run -75 rlock run -n x -- "${edited[@]}"
        run -75 rlock run -n x -- rlock run -n y -- "${edited[@]}"
    done
}

@test "RLOCK_SERVER: set for the command wherever the server was named; nested finds the same one" {
    server_start other
    try run -s "$(server_url other)" -n x -- sh -c 'echo "$RLOCK_SERVER"; rlock run -x -n x -- sh -c "echo \$RLOCK_TOKEN"'
    assert_output "$(server_url other)"$'\n1'
    assert_equal "$(redis EXISTS 'redisson_lock_token:{x}')" 0
    unset RLOCK_SERVER
    echo "server = $(server_url other)" >"$RLOCK_CONFIG"
    try run -n x -- sh -c 'cd / && echo "$RLOCK_SERVER" && RLOCK_CONFIG=/dev/null rlock run -x -n x -- printenv RLOCK_TOKEN'
    assert_output "$(server_url other)"$'\n2'
}

@test "RLOCK_SERVER: the password that a file has for it stays there, and counts for a nested rlock, too" {
    local user
    net_server net --requirepass sesame --user alice on '>sesame' '~*' '&*' +@all
    for user in '' alice; do
        echo "server = redis://$user:sesame@127.0.0.1/3" >"$RLOCK_CONFIG"
        run --separate-stderr in_net net env -u RLOCK_SERVER "$RLOCK" run -n x -- \
            sh -c 'printenv | grep sesame; echo "$RLOCK_SERVER"; rlock run -x -n x -- rlock check'
        assert_equal "$status $stderr" "0 "
        assert_output "redis://${user:+$user@}127.0.0.1:6379/3"
    done
    run --separate-stderr in_net net env RLOCK_SERVER=redis://alice@127.0.0.1/4 "$RLOCK" run -x -n x -- true # not the file's
    assert_failure 77
    try run -x -n x -- printenv RLOCK_SERVER
    assert_output "$(server_url main)"
}

@test "the same name on another server is another lock: each enters its own" {
    local one=$RLOCK_SERVER other
    server_start other
    other=$(server_url other)
    for middle in run read; do
        # shellcheck disable=SC2016
        try run -n x -- rlock "$middle" -x -s "$other" -n x -- \
            sh -c 'rlock run -x -s "$0" -n x -- rlock "$1" -x -s "$2" -n x -- rlock check' "$one" "$middle" "$other"
        assert_equal "$status: $stderr" "0: "
    done
}

@test "a nested rlock whose environment was cleared is told that it waits for itself; a stranger is not" {
    local kind outer bare=(env -i "PATH=$PATH" "$RLOCK")
    for kind in run:run run:fair write:read read:write; do
        outer=${kind%:*} kind=${kind#*:}
        ends_saying 75 'cannot take x: held by ' '; that rlock is an ancestor of this one' RLOCK_HOLDS -- \
            "$outer" -n x -- "${bare[@]}" "$kind" -x -s "$RLOCK_SERVER" -n x -- touch ran
        try "$outer" -n x -- "${bare[@]}" "$kind" -w "$(ms 300)" -s "$RLOCK_SERVER" -n x -- touch ran
        assert_failure 75
        assert_equal "$(grep -c ancestor <<<"$stderr")" 1
        assert_regex "$stderr" 'x is held by pid [0-9]+: that rlock is an ancestor'
    done
    hold x
    ends_saying 75 'cannot take x: held by ' -- run -x -n x -- touch ran
    refute_regex "$stderr" ancestor
    let_go x
    reap "$holder"
    # The number of an ancestor on another host is anybody's.
    foreign_hold x 60000
    redis HSET 'rlock_info:{x}' "$foreign_owner" "{\"host\":\"$(uname -n)\",\"pid\":$$}"
    ends_saying 75 'that rlock is an ancestor of this one' -- run -x -n x -- touch ran
    redis HSET 'rlock_info:{x}' "$foreign_owner" "{\"host\":\"elsewhere\",\"pid\":$$}"
    ends_saying 75 "cannot take x: held by elsewhere pid $$" -- run -x -n x -- touch ran
    refute_regex "$stderr" 'that rlock is'
    redis DEL x
    try sem -n s --permits 1 -- "${bare[@]}" sem -x -s "$RLOCK_SERVER" -n s --permits 1 -- touch ran
    refute_regex "$stderr" ancestor
    assert_file_not_exist ran
}
