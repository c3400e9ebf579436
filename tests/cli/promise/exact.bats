#!/usr/bin/env bats
# exact.bats: what is exact: names that differ in braces, tokens beyond 2^53, permits in use, what is no lock.

load ../../lib/rlock
load ../../lib/actors

setup_file() {
    build_section
    rlock_setup_file
}

kinds=(run fair read write sem 'sem --plain')

permits_of() { # KIND: options
    [[ $1 != sem* ]] || echo --permits 1
}

# --- x and {x} ---------------------------------------------------------------------------------------

@test "x and {x} are two locks of each kind: held side by side, with waiters, to the end" {
    local kind
    for kind in "${kinds[@]}"; do
        [[ $kind == read ]] && continue # two readers prove nothing
        redis FLUSHALL >/dev/null
        # shellcheck disable=SC2046,SC2086
        try $kind $(permits_of "$kind") -l 2s -n x -- rlock $kind $(permits_of "$kind") -x -n '{x}' -- \
            redis-cli -s "${RLOCK_SERVER#unix://}" EXISTS x '{x}'
        assert_equal "$kind $status $output" "$kind 0 2"
        # shellcheck disable=SC2046,SC2086
        try $kind $(permits_of "$kind") -l 2s -n '{x}' -- rlock $kind $(permits_of "$kind") -x -n x -- echo in
        assert_equal "$kind $status $output" "$kind 0 in"
        [[ $kind == sem* ]] || assert_no_keys
    done
    redis FLUSHALL >/dev/null
    twin a write # its marker, when it waits, is not x's
    wait_until 5 entered_section a
    twin b write
    wait_until 5 marked
    try read -x -n x -- echo in
    assert_success
    finish a b
}

twin() { # WHO KIND [OPTION...]: as act, of {x}
    local who=$1 kind=$2
    shift 2
    log=$who start "$kind" -n '{x}' "$@" -- "$SECTION" --log history --note "who=$who" --until "end-$who"
    pid_of["$who"]=$pid
}

marked() {
    [[ $(redis EXISTS '{x}::wait_write') == 1 ]]
}

@test "fair: who waits for {x} does not stand in the way of x" {
    twin a fair
    wait_until 5 entered_section a
    twin b fair
    wait_until 5 queued 1
    holds c fair
    try fair -x -n x -- true
    assert_failure 75
    act d fair
    wait_until 5 queued 2
    finish c d
    refute_entered b
    finish a b
    wait_until 5 assert_no_keys
}

queued() {
    (($(redis LLEN 'redisson_lock_queue:{x}') == $1))
}

@test "sem: an expired permit of x is not {x}'s, and the number of each is its own" {
    rlock sem -n '{x}' --permits 1 -- true
    start sem -n x --permits 1 -l 300ms --no-renew -- sleep 60
    wait_until 5 taken x
    kill -KILL "$pid"
    reap "$pid"
    wait_until 5 expired
    try sem -n '{x}' --permits 1 -x -- sh -c 'rlock sem -n "{x}" -x -- echo second'
    assert_failure 75
    assert_output ""
    assert_equal "$(redis GET '{x}')" 1
    try sem -n x --permits 1 -x -- rlock latch set -n '{y}' --count 1
    assert_success
    assert_equal "$(redis GET x)" 1
}

taken() { # NAME
    [[ $(redis GET "$1") == 0 ]]
}

expired() {
    local ends
    ends=$(redis ZRANGE '{x}:timeout' 0 0 WITHSCORES | tail -1)
    (($(redis TIME | head -1) * 1000 > ends + 1000))
}

# --- tokens ------------------------------------------------------------------------------------------

@test "tokens grow by one beyond 2^53, in every kind, and prove an enclosing hold" {
    local kind last
    for kind in "${kinds[@]}"; do
        for last in 9007199254740991 1700000000000000000 9223372036854775800; do
            redis FLUSHALL >/dev/null
            redis SET 'redisson_lock_token:{x}' "$last" >/dev/null
            # shellcheck disable=SC2046,SC2086
            for _ in 1 2; do
                try $kind $(permits_of "$kind") -n x -- sh -c 'echo "$RLOCK_TOKEN"'
                assert_equal "$kind $output" "$kind $((++last))"
            done
        done
        [[ $kind == sem* ]] && continue
        try "$kind" -n x -- rlock "$kind" -x -n x -- sh -c 'rlock check && echo "$RLOCK_TOKEN"'
        assert_equal "$kind $output" "$kind $((last + 1))"
    done
    redis FLUSHALL >/dev/null
    redis SET 'redisson_lock_token:{x}' "$last" >/dev/null
    try status --json x
    assert_output --partial "\"token\":$last"
    try acquire run -n x
    assert_success
    rlock check "$output"
    rlock renew "$output"
    rlock release "$output"
}

@test "the last token is 2^63-1: then no lock, and none is held" {
    redis SET 'redisson_lock_token:{x}' 9223372036854775806 >/dev/null
    try run -n x -- sh -c 'echo "$RLOCK_TOKEN"'
    assert_output 9223372036854775807
    try run -n x -x -- touch ran
    assert_failure
    assert_file_not_exist ran
    assert_no_keys
}

# --- what is no lock ---------------------------------------------------------------------------------

@test "65: a hash that counts something is no lock, and break leaves it alone" {
    local kind
    redis HSET h visits 7 >/dev/null
    redis HSET r mode read visits 7 >/dev/null
    for kind in run fair read write; do
        try "$kind" -x -n h -- touch ran
        assert_failure 65
        try "$kind" -x -n r -- touch ran
        assert_failure 65
    done
    try break --force h
    assert_failure 65
    try status -q h
    refute [ "$status" -eq 75 ]
    assert_file_not_exist ran
    assert_equal "$(redis HGET h visits) $(redis HGET r visits)" "7 7"
}

# --- permits -----------------------------------------------------------------------------------------

@test "--resize counts plain permits in use" {
    holds a sem --plain --permits 2
    holds b sem --plain --permits 2
    rlock sem -n x --resize 2
    assert_equal "$(redis GET x)" 0
    rlock sem -n x --resize 3
    assert_equal "$(redis GET x)" 1
    finish a b
    assert_equal "$(redis GET x)" 3
}

@test "--plain: 64 where there are more permits than --permits says" {
    rlock sem --plain -n x --permits 3 -- true
    try sem --plain -n x --permits 2 -x -- touch ran
    assert_failure 64
    assert_stderr_has 3 2
    assert_file_not_exist ran
}

@test "Redisson's expire() of a semaphore is one of its permits, too" {
    rlock sem -n x --permits 1 -- true
    redis PEXPIRE x 60000 >/dev/null
    holds a sem --permits 1
    (($(redis PTTL '{x}:timeout') > 0)) || fail "the permits outlive the semaphore"
    finish a
}

@test "status: what the key holds, less than none too" {
    redis SET x -1 >/dev/null
    redis SET 'redisson_lock_token:{x}' 5 >/dev/null
    try status --json x
    assert_success
    assert_equal "$(python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["permits"]["available"])' <<<"$output")" -1
}

@test "break: a number that only Redisson's clients use is not taken for a latch" {
    redis SET x 3 >/dev/null
    try break --force x
    assert_failure 65
    assert_stderr_has semaphore
    refute_regex "$stderr" 'latch down'
    rlock latch set -n y --count 2
    try break --force y
    assert_failure 65
    assert_stderr_has 'rlock latch down -n y --by 2'
}
