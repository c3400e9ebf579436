#!/usr/bin/env bats
# mutex.bats: `rlock run` and Redisson's RLock and RFencedLock are one lock.

load ../lib/rlock
load ../lib/actors
load interop

@test "either keeps the other out" {
    local kind
    for kind in lock fenced fair; do
        excludes "$kind" x "$kind" lock
        passes "j2-$kind" "$kind" x
        assert_no_keys
    done
}

@test "who waits is woken by a message, in both directions, of each kind" {
    local kind
    for kind in lock fair write sem permits; do
        [[ $kind != sem && $kind != permits ]] || assert_answer true j0 set "$kind" "$kind" permits=1
        handovers "$kind" "$kind" a j1 b j2 c j3 d
        rm history end-*
    done
    assert_equal "$(redis GET sem) $(redis GET permits)" '1 1'
    assert_keys sem permits
}

@test "the holds of an owner are not touched by the other side" {
    local kind other
    for kind in lock read write; do
        other=${kind/read/write}
        assert_answer taken j1 take "$kind" x
        assert_answer taken j1 take "$kind" x
        try "${form[$other]}" -w "$(ms 300)" -n x -- true
        assert_failure 75
        [[ $kind != read ]] || passes r read x
        assert_answer 2 j1 holds "$kind" x
        gives_back j1 "$kind" x
        shut_out a "$other" x
        gives_back j1 "$kind" x
        assert_no_keys
    done
    start run -n x -- rlock run -n x -- "$SECTION" --log history --note who=a --until end-a
    pid_of[a]=$pid
    wait_until 10 entered_section a
    assert_equal "$(redis HVALS x)" 2
    assert_answer busy j1 take lock x wait=$((300 * SLOW))
    assert_answer true j1 locked lock x
    assert_answer false j1 held lock x
    [[ $(ask j1 release lock x) == error* ]] || fail "Redisson gave back what is not its own"
    assert_equal "$(redis HVALS x)" 2
    finish a
    assert_no_keys
}

@test "tokens grow across both" {
    local who
    for who in a j1 j2 b c j3 d; do
        passes "$who" fenced x
        passes "j-$who" lock x # has no token, and gives none out
    done
    assert_equal "$(tokens)" "$(seq -s ' ' 1 7)"
}

tokens() {
    sed -n '/token=none/d; s/.* exit=- .* token=\([0-9]*\) .*/\1/p' history | tr '\n' ' ' | sed 's/ $//'
}

@test "a MultiLock is rlock's with several names" {
    enters j1 multi x,y
    shut_out a lock x
    shut_out a lock y
    try run -x -n y -n x -- true
    assert_failure 75
    leaves j1
    start run -n y -n x -- "$SECTION" --log history --note who=a --until end-a
    pid_of[a]=$pid
    wait_until 10 entered_section a
    shut_out j1 multi x,y
    shut_out j1 lock y
    tell j1 take multi x,y
    brief a
    gone 0 a
    wait_until 10 entered_section j1
    gives_back j1 multi x,y
    assert_no_keys
}

@test "Redisson's forceUnlock takes rlock's lock away, and rlock ends its command" {
    act a run -l "$(ms 1500)"
    wait_until 10 entered_section a
    awaits j1 lock x
    assert_answer true j2 force lock x
    wait_until 2 entered_section j1
    gone 76 a
    leaves j1
    assert_no_keys
}
