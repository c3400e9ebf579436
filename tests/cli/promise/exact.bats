#!/usr/bin/env bats
# exact.bats: what is exact: names that differ in braces, tokens beyond 2^53, permits in use.

load ../../lib/rlock
load ../../lib/actors

# --- names that are those of other keys ---------------------------------------------------------------

@test "a name in braces, or one of the keys beside locks: 64 before anything is sent; others like them are names" {
    local name words
    rlock run -n x -- true
    for name in '{x}' '{}' '{a{b}' 'rlock_info:{x}' 'rlock_hold:{x}' rlock_ rlock_x 'redisson_lock_queue:{x}' redisson_ \
        '{x}:timeout' 'a{x}:wait_write' '{x}:00000000-0000-0000-0000-000000000000:1:rwlock_timeout:1'; do
        for words in 'run -n NAME -- touch ran' 'fair -n NAME -c true' 'read -n NAME -n x -- touch ran' 'write -n NAME -- true' \
            'sem -n NAME --permits 1 -- true' 'sem -n NAME --resize 2' 'latch set -n NAME --count 1' 'latch down -n NAME' \
            'latch wait -n NAME' 'acquire run -n NAME' 'status NAME' 'break --force NAME'; do
            [[ $words == run* || $name == '{x}' || $name == rlock_x ]] || continue # each name, and each command
            # shellcheck disable=SC2086
            assert_usage "$([[ $name == '{'*'}' ]] && echo 'in braces' || echo 'keys beside other locks')" -- ${words//NAME/$name}
        done
    done >/dev/null
    for name in 'x{' '{x}y' x:timeout x:wait_write '{x}timeout' 'a{x}' '{a}{b}' '}{' rlock redisson Rlock_x x_rlock_; do
        try run -n "$name" -- rlock check
        assert_equal "$name: $status" "$name: 0"
    done
}

@test "a key that somebody has named so is no lock that status would show" {
    redis HSET '{x}' 11111111-2222-4333-8444-555555555555:1 1 rlock_x y >/dev/null
    redis HSET rlock_lock 11111111-2222-4333-8444-555555555555:1 1 >/dev/null
    try status --json
    assert_output '[]'
}

# --- tokens ------------------------------------------------------------------------------------------

# Behind the last there is none: topology/errors.bats.
@test "tokens grow by one beyond 2^53, to 2^63-1, in every kind, and prove an enclosing hold" {
    local kind last
    for kind in run fair read write 'sem --permits 1' 'sem --plain --permits 1'; do
        for last in 9223372036854775805 1700000000000000000 9007199254740991; do
            redis FLUSHALL >/dev/null
            redis SET 'redisson_lock_token:{x}' "$last" >/dev/null
            # shellcheck disable=SC2086
            for _ in 1 2; do
                try $kind -n x -- sh -c 'echo "$RLOCK_TOKEN"'
                assert_equal "$kind $output" "$kind $((++last))"
            done
        done
        [[ $kind == sem* ]] && continue
        try "$kind" -n x -- rlock "$kind" -x -n x -- sh -c 'rlock check && echo "$RLOCK_TOKEN"'
        assert_equal "$kind $output" "$kind $((last + 1))"
    done
    redis FLUSHALL >/dev/null
    redis SET 'redisson_lock_token:{x}' "$last" >/dev/null
    handle=$(rlock acquire run -n x)
    rlock check "$handle"
    rlock renew "$handle"
    rlock release "$handle"
}

# --- permits -----------------------------------------------------------------------------------------

@test "Redisson's expire() of a semaphore is one of its permits, too" {
    rlock sem -n x --permits 1 -- true
    redis PEXPIRE x 60000 >/dev/null
    holds a sem --permits 1
    (($(redis PTTL '{x}:timeout') > 0)) || fail "the permits outlive the semaphore"
    finish a
}

@test "break: a number that only Redisson's clients use is not taken for a latch" {
    redis SET x 3 >/dev/null
    ends_saying 65 semaphore -- break --force x
    refute_regex "$stderr" 'latch down'
    redis DEL x >/dev/null
    rlock sem -n x --permits 3 -- true
    ends_saying 1 'nobody holds it' -- break --force x
}
