#!/usr/bin/env bats
# rw.bats: `rlock read` and `rlock write` and Redisson's RReadWriteLock are one lock.

load ../lib/rlock
load ../lib/rw
load interop

@test "writers keep all others out, readers only writers" {
    local pair each other
    excludes write x read write
    for pair in "a j" "j a"; do
        read -r each other <<<"$pair"
        enters "$each-r" read x
        shut_out "$other" write x
        passes "$other-r2" read x
        shut_out "$other" write x
        leaves "$each-r"
        passes "$other-w2" write x
        assert_no_keys
    done
}

@test "readers of both are in together; then a writer, woken by the last; then readers, woken by it: all by messages" {
    local writer each
    for writer in a-w j-w; do
        for each in r1 j1 r2 j2; do
            enters "$each" read x
        done
        awaits "$writer" write x
        leaves r1 j1 r2
        refute_entered "$writer"
        leaves j2
        wait_until 10 entered_section "$writer"
        all_await r3 j3 r4 j4
        leaves "$writer"
        leaves r3 j3 r4 j4
        judge_gaps "$writer" "$(gap j2 "$writer"; for each in r3 j3 r4 j4; do gap "$writer" "$each"; done)"
        rm history end-*
        assert_rest_ends
    done
}

all_await() { # WHO...: to read; nobody else does
    local who rlocks=0 before
    before=$(scripts_run x)
    for who; do
        comes "$who" read x
        is_java "$who" || rlocks=$((rlocks + 1))
    done
    wait_until 10 all_listen $((rlocks + 1)) # all of a JVM by one connection
    wait_until 10 have_tried x $((before + 2 * $#)) # and a second time, since they listen
}

all_listen() { # N
    (($(redis CLIENT LIST TYPE pubsub | grep -c 'sub=[1-9]') >= $1))
}

@test "rlock's downgrade lets Redisson's readers in at once, those that wait as well" {
    start write -n x -- sh -c 'rlock read -n x -- "$@" & $SECTION --until go' sh \
        "$SECTION" --log history --note who=a --until end-a
    wait_until 10 entered_section a
    awaits j1 read x
    refute_entered j1
    : >go
    wait_until 1 entered_section j1
    reap "$pid"
    assert_equal "$(redis HGET x mode)" read
    passes j2 read x
    shut_out j2 write x
    leaves j1
    brief a
    wait_until 5 assert_no_keys
}

# Redisson publishes nothing.
@test "Redisson's downgrade: rlock's readers come in within their cap, not after a lease" {
    enters j1 write x
    enters j1 read x
    awaits a read x
    gives_back j1 write x
    assert_equal "$(redis HGET x mode)" read
    wait_until 6 entered_section a
    passes j2 read x
    shut_out j2 write x
    leaves a
    gives_back j1 read x
    assert_no_keys
}

@test "a writer of rlock's that waits holds back rlock's new readers; Redisson's pass it" {
    enters j1 read x
    awaits a write x
    wait_until 5 marked_waiting
    shut_out b read x
    passes j2 read x
    leaves j1
    wait_until 10 entered_section a
    leaves a
    assert_no_keys
}

marked_waiting() {
    (($(redis EXISTS "$marker") == 1))
}

@test "a dead reader of Redisson's is not kept alive by rlock's renewals" {
    local end
    enters k1 read x
    enters a read x lease="$DYING_MS"
    java_kill k
    end=$(redis PEXPIRETIME "{x}:$(told k1 owner):rwlock_timeout:1")
    wait_until 10 is_later $((end + DYING_MS))
    awaits b write x
    leaves a
    wait_until 2 entered_section b
    leaves b
    assert_no_keys
}

# Redisson of version 3 renews every reader in the hash, its own or not; no longer than it reads.
@test "a dead reader of rlock's keeps a writer out no longer than a lease after Redisson's last reader" {
    local end
    enters k1 read x
    enters a read x lease="$DYING_MS"
    end=$(redis PEXPIRETIME "$(lease_key a)")
    signal KILL a
    gone 137 a
    wait_until 10 is_later $((end + DYING_MS))
    awaits b write x
    leaves k1
    wait_until 10 entered_section b
    assert_gap k1 b $((DYING_MS / SLOW + 1000))
    leaves b
    assert_no_keys
}
