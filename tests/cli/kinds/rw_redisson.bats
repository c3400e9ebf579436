#!/usr/bin/env bats
# rw_redisson.bats: rlock's readers and writers and Redisson's on one lock: neither touches the other's.

load ../../lib/rlock
load ../../lib/rw

# What follows the last hold, of a reader (0) or a writer (1).
foreign_ends() {
    redis DEL x "$foreign_key:1" >/dev/null
    redis PUBLISH 'redisson_rwlock:{x}' "$1" >/dev/null
}

@test "a Redisson client's write hold keeps both out, and is not touched; its end lets all readers in" {
    local before n
    foreign_writes 60000
    before=$(redis DUMP x | base64)
    kept_out read
    assert_stderr_has "$foreign_owner"
    kept_out write
    assert_equal "$(redis DUMP x | base64)" "$before"
    assert_keys x
    for n in 1 2 3 4 5; do
        waits "r$n" read
    done
    foreign_ends 1
    for n in 1 2 3 4 5; do
        wait_until 1 entered_section "r$n"
    done
    finish r1 r2 r3 r4 r5
    assert_no_keys
}

@test "a Redisson client's read hold is shared and not touched; its end lets a writer in" {
    needs_server 7.0 PEXPIRETIME
    local before began
    foreign_reads "$foreign_owner" 60000
    before=$(redis PEXPIRETIME "$foreign_key:1")
    holds a read -l 1s
    kept_out write
    finish a
    assert_equal "$(redis PEXPIRETIME "$foreign_key:1")" "$before"
    assert_keys x "$foreign_key:1"
    assert_equal "$(mode) $(redis HLEN x)" "read 2"
    (($(redis PTTL x) > 30000))
    brief w
    waits w write
    began=$(now_ns)
    foreign_ends 0
    gone 0 w
    (($(stamp w enter) - began < 500000000 * SLOW))
    assert_no_keys
}

@test "a renewal touches its own holds only" {
    needs_server 7.0 PEXPIRETIME
    local before
    holds a read -l "$(ms 1000)"
    redis HSET x "$foreign_owner" 2
    redis SET "$foreign_key:1" 1 PX 50000
    redis SET "$foreign_key:2" 1 PX 60000
    redis PEXPIRE x 60000
    before=$(redis PEXPIRETIME "$foreign_key:1") # the same for both
    ends=$(redis PEXPIRETIME x)
    redis CONFIG RESETSTAT
    watch 2 not_shortened
    (($(calls evalsha) >= 3)) || fail "no renewals"
    assert_equal "$(redis PEXPIRETIME "$foreign_key:1")" "$before"
    assert_equal "$(redis HGET x "$foreign_owner")" 2
    finish a
    assert_equal "$(redis PEXPIRETIME "$foreign_key:1")" "$before"
    (($(redis PTTL x) > 30000))
    assert_equal "$(redis HGETALL x | sort | tr '\n' ' ')" "$(printf '%s\n' 2 mode read "$foreign_owner" | sort | tr '\n' ' ')"
    redis DEL x "$foreign_key:1" "$foreign_key:2"
    wait_until 2 assert_no_keys
}
