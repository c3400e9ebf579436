#!/usr/bin/env bats
# rw_faults.bats: readers and writers that die, lose their hold, or lose replies.

load ../../lib/rlock
load ../../lib/rw

# --- death -------------------------------------------------------------------------------------

@test "a dead reader beside one that has a long lease: a writer waits for the dead one's own, no longer" {
    local end
    holds a read -l 60s
    holds dead read -l "$(ms 2000)"
    brief w
    waits w write
    signal KILL dead
    end=$(expiry "$(lease_key dead)")
    finish a
    gone 0 w
    assert_at "$end" w 3000 # at its next beat
    assert_no_keys
}

@test "the last living reader leaves when a dead one's lease is over: the writer enters at once" {
    local key
    holds a read -l 30s
    holds dead read -l "$(ms 1000)"
    brief w
    waits w write
    key=$(lease_key dead)
    signal KILL dead
    wait_until 3 gone_key "$key"
    finish a
    gone 0 w
    assert_gap a w 1000
    assert_no_keys
}

# --- leases ------------------------------------------------------------------------------------

@test "a reader's lease or its field is gone: 76, and nothing is made again; other readers go on" {
    holds a read -l "$(ms 1000)"
    holds b read -l "$(ms 1000)"
    holds c read -l "$(ms 1000)"
    redis DEL "$(lease_key a)"
    redis HDEL x "$(told b owner)"
    gone 76 a b
    assert_regex "$(cat a.err)" '^rlock: lost x'
    assert_equal "$(field a)$(field b) $(field c)" " 1"
    finish c
    wait_until 2 assert_no_keys
}

# --- lost replies: see promise/lost_replies, too ------------------------------------------------

@test "nested, and a reply is lost: counted once, given back once; another reader's hold is not touched" {
    needs_server 7.0 PEXPIRETIME
    local outer inner expected ends
    proxy_start
    export SOCKET=$BATS_FILE_TMPDIR/main/sock
    printf '%s\n' 'redis-cli -s "$SOCKET" HMGET x "$RLOCK_OWNER" "$RLOCK_OWNER:write" | paste -s -d ,' >look
    while read -r outer inner expected; do
        redis FLUSHALL
        [[ $outer == write ]] || foreign_reads "$foreign_owner" 60000
        ends=$(redis PEXPIRETIME "$foreign_key:1")
        proxy pass
        proxy lose-reply "$(sha acquire "$inner")" "$([[ $outer == "$inner" ]] && echo 2 || echo 1)" 2
        proxy lose-reply "$(sha release rw)" 1 2
        try "$outer" -n x -- sh -c 'rlock "$0" -n x -- sh look; exec sh look' "$inner"
        assert_success
        assert_equal "$outer $inner: ${lines[*]}" "$outer $inner: $expected"
        assert_equal "$(redis PEXPIRETIME "$foreign_key:1")" "$ends"
        [[ $outer == write ]] || assert_keys x "$foreign_key:1"
    done <<<'read read 2, 1,
write write ,2 ,1
write read 1,1 ,1'
    assert_bitten lost-reply 12
    assert_no_keys
}

@test "a writer that waits loses replies: readers are held back for it, and no longer" {
    proxy_start
    holds first read
    proxy lose-reply "$(sha acquire write)" 1 3
    act w write
    wait_until 5 test_marker 1
    waits r read
    assert_bitten lost-reply 3
    proxy lose-reply "$(sha release rw)" 1
    signal TERM w
    gone 143 w
    assert_bitten lost-reply 4
    test_marker 0
    wait_until 1 entered_section r
    finish first r
    assert_no_keys
}

test_marker() { # EXISTS
    (($(redis EXISTS "$marker") == $1))
}
