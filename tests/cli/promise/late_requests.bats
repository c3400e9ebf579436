#!/usr/bin/env bats
# late_requests.bats: what the network delivers after rlock has given up on it, or has ended, changes nothing:
# no later hold is freed, and no lock is taken for nobody. And doubt stays until it is ended. rlock-internals(7), LATE REQUESTS.

load ../../lib/rlock

setup_file() {
    rlock_setup_file
    export SCRIPTS PYTHONPYCACHEPREFIX=$BATS_FILE_TMPDIR/python
}

setup() {
    rlock_setup
    proxy_start
    direct=$BATS_FILE_TMPDIR/main/sock
    io=$(ms 300)
}

kinds=(run fair read write sem plain)
declare -gA how=([run]=run [fair]=fair [read]=read [write]=write [sem]='sem --permits 1' [plain]='sem --plain --permits 1')
declare -gA part=([run]=mutex [fair]=mutex [read]=rw [write]=rw [sem]=sem [plain]=plain)
declare -gA rival=([run]=run [fair]=fair [read]=write [write]=read [sem]=sem [plain]='sem --plain')

acquire_of() { # KIND
    [[ $1 == run ]] && set -- mutex
    sha acquire "$1"
}

begin() { # KIND: nothing is there, and no fault
    redis FLUSHALL >/dev/null
    rm -f let-go in
    proxy pass
    # shellcheck disable=SC2206
    take=(${how[$1]} -n x)
    # shellcheck disable=SC2206
    others=(${rival[$1]} -s "unix://$direct" -n x)
}

# A semaphore's own number stays, and is whole again.
assert_free() { # KIND
    case $1 in
    sem | plain) assert_keys x && assert_equal "$1: $(redis GET x)" "$1: 1" ;;
    *) assert_no_keys ;;
    esac
}

@test "a request to take it that arrives after the end takes nothing" {
    local kind
    for kind in "${kinds[@]}"; do
        begin "$kind"
        proxy hold-request "$(acquire_of "$kind")" 1
        try "${take[@]}" --io-timeout "$io" -- true
        assert_success
        assert_free "$kind"
        proxy deliver
        assert_free "$kind"
        assert_equal "$(redis KEYS 'rlock_tombstone:*:{x}' | wc -l)" 1
    done
    assert_bitten delivered "${#kinds[@]}"
}

@test "... nor does one of an rlock that gave up" {
    local kind
    for kind in "${kinds[@]}"; do
        begin "$kind"
        proxy hold-request "$(acquire_of "$kind")" 1
        start "${take[@]}" --io-timeout 60s -- true
        wait_until 10 grep -q '^lost-request' proxy.log
        kill -TERM "$pid"
        reap "$pid"
        assert_equal "$kind $status" "$kind 143"
        proxy deliver
        assert_no_keys # a semaphore, too, was never set up
        : >proxy.log
    done
}

# The answer to the first request comes too late to start on it: given back, but that is late, too; taken again.
@test "a give-back that arrives after the next grant frees nothing, and a late answer starts nothing" {
    local kind
    for kind in run fair read write sem; do
        begin "$kind"
        proxy delay-reply "$(acquire_of "$kind")" 1 $((900 * SLOW))
        proxy hold-request "$(sha release "${part[$kind]}")" 1
        start "${take[@]}" -l "$(ms 1200)" --io-timeout 60s -- sh -c 'echo >in; until [ -e let-go ]; do sleep 0.01; done; exit 5'
        wait_until 20 test -s in
        proxy deliver
        try "${others[@]}" -x -- true
        assert_failure 75
        : >let-go
        reap "$pid"
        assert_equal "$kind $status" "$kind 5"
        wait_until 5 assert_free "$kind"
    done
    assert_bitten delayed 5
    assert_bitten delivered 5
}

@test "of several names: a give-back of the first, late, while it waited for the second" {
    local kind
    for kind in run fair write; do
        begin "$kind"
        start "${rival[$kind]}" -s "unix://$direct" -n b -- sh -c 'echo >first; until [ -e let-go ]; do sleep 0.01; done'
        wait_until 10 test -s first
        local holder=$pid
        proxy hold-request "$(sha release "${part[$kind]}")" 1
        start "$kind" --io-timeout "$io" -n a -n b -- sh -c 'echo >in; until [ -e end ]; do sleep 0.01; done; exit 5'
        wait_until 10 grep -q '^lost-request' proxy.log
        : >let-go
        wait_until 20 test -s in
        proxy deliver
        try "${rival[$kind]}" -s "unix://$direct" -n a -x -- true
        assert_failure 75
        : >end
        reap "$pid"
        assert_equal "$kind $status" "$kind 5"
        reap "$holder"
        rm -f first end
        : >proxy.log
    done
}

# Without an answer it may hold the lock; what the server has against all requests just then does not end that.
@test "doubt outlives other answers: what may have been taken is given back" {
    local kind
    for kind in run fair read write sem; do # a plain permit is found again without a write, and is taken
        begin "$kind"
        # shellcheck disable=SC2086
        rlock ${how[$kind]} -n y -- true
        local before
        proxy lose-request "$(acquire_of "$kind")" 2 1000
        proxy lose-reply "$(acquire_of "$kind")" 1
        start "${take[@]}" -l 1h -- touch ran
        wait_until 10 grep -q '^lost-request' proxy.log
        redis CONFIG SET min-replicas-to-write 1 >/dev/null
        proxy pass
        before=$(requests "$(acquire_of "$kind")")
        wait_until 10 more_requests "$before" "$kind"
        kill -STOP "$pid"
        redis CONFIG SET min-replicas-to-write 0 >/dev/null
        kill -TERM "$pid"
        kill -CONT "$pid"
        reap "$pid"
        assert_equal "$kind $status" "$kind 143"
        assert_file_not_exist ran
        redis DEL y >/dev/null
        assert_free "$kind"
        : >proxy.log
    done
}

more_requests() { # BEFORE KIND
    (($(requests "$(acquire_of "$2")") > $1))
}

# Exhaustively: tests/tools/scripts/explore.py.
@test "in whatever order the network delivers them, twice or never: nobody beside a holder, nothing for nobody" {
    local kind
    for kind in "${kinds[@]}"; do
        run python3 "$TOOLS/scripts" explore "$kind" "$direct" 6
        echo "$kind: $output"
        assert_success
        (($(cut -d ' ' -f 1 <<<"$output") > 1000)) || fail "few states"
    done
}
