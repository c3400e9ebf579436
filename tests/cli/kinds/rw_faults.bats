#!/usr/bin/env bats
# rw_faults.bats: readers and writers that die, lose their hold, or lose replies.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/rw

# --- death -------------------------------------------------------------------------------------

@test "SIGKILL of a writer's rlock: readers enter at the end of its lease" {
    local end
    holds w write -l "$(ms 1500)"
    brief r1 r2
    waits r1 read
    waits r2 read
    signal KILL w
    end=$(expiry x)
    gone 0 r1 r2
    assert_at "$end" r1 500
    assert_at "$end" r2 500
    assert_no_keys
}

@test "SIGKILL of a reader's rlock: a writer enters at the end of its lease" {
    local end
    holds r read -l "$(ms 1500)"
    brief w
    waits w write
    signal KILL r
    end=$(expiry x)
    gone 0 w
    assert_at "$end" w 500
    assert_no_keys
}

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

@test "a dead reader among living ones: its field and its key go, theirs stay, however long they renew" {
    holds a read -l "$(ms 1000)"
    holds dead read -l "$(ms 1000)"
    holds b read
    waits w write
    signal KILL dead
    wait_until 5 no_field dead
    assert_equal "$(redis EXISTS "$(lease_key dead)")" 0
    assert_equal "$(field a) $(field b)" "1 1"
    finish a
    refute_entered w
    brief w
    finish b
    gone 0 w
    assert_gap b w 1000
    assert_no_keys
}

no_field() { # WHO
    [[ -z $(field "$1") ]]
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

@test "a short lease beside a long one does not shorten it, whoever renews or goes" {
    needs_server 7.0 PEXPIRETIME
    ends=0
    holds a read -l 30s
    not_shortened
    holds b read -l "$(ms 1000)"
    watch 2 not_shortened
    finish b
    not_shortened
    kept_out write
    holds b2 read -l "$(ms 1000)"
    finish a
    (($(redis PTTL x) <= 1000 * SLOW)) || fail "$(redis PTTL x)"
    watch 2 in_read
    finish b2
    assert_no_keys
}

in_read() {
    [[ $(mode) == read ]]
}

@test "readers and writers are renewed for several leases" {
    local kind
    for kind in read write; do
        holds "$kind" "$kind" -l "$(ms 1000)"
        watch 2 kept_out write
        finish "$kind"
        assert_no_keys
    done
}

@test "the hold is gone, or someone else's: 76, and nothing is made again; other readers go on" {
    holds a read -l "$(ms 1000)"
    holds b read -l "$(ms 1000)"
    holds c read -l "$(ms 1000)"
    redis DEL "$(lease_key a)"
    redis HDEL x "$(told b owner)"
    gone 76 a b
    assert_regex "$(cat a.err)" '^rlock: lost x'
    assert_equal "$(field a)$(field b) $(field c)" " 1"
    redis DEL x
    gone 76 c
    wait_until 2 assert_no_keys
    holds w write -l "$(ms 1000)"
    redis EVAL 'redis.call("DEL", KEYS[1]) redis.call("HSET", KEYS[1], "mode", "write", ARGV[1], 1)
        redis.call("PEXPIRE", KEYS[1], 60000)' 1 x "$foreign_owner:write"
    gone 76 w
    assert_equal "$(redis HGET x "$foreign_owner:write") $(redis HLEN x)" "1 2"
}

@test "out of memory: renewal and release still work" {
    local kind
    for kind in read write; do
        server_start full
        RLOCK_SERVER=$(server_url full) holds "$kind" "$kind" -l "$(ms 1000)"
        redis_on full CONFIG SET maxmemory 1
        watch 2 held_on_full "$kind"
        finish "$kind"
        assert_equal "$(redis_on full DBSIZE)" 1 # the token
        server_stop full
    done
}

held_on_full() { # KIND
    [[ $(redis_on full HGET x mode) == "$1" ]]
}

# --- lost replies ------------------------------------------------------------------------------

# look KIND: one hold, with one token, as the command sees it; nothing is left.
look() {
    try "$1" --io-timeout "$(ms 300)" -n x -- sh -c 'CLI="redis-cli -s $0"; $CLI HGET x mode; $CLI HLEN x
        $CLI HVALS x | grep -c "^1$"; echo "$RLOCK_TOKEN"; exit 5' "$BATS_FILE_TMPDIR/main/sock"
    assert_failure 5
    assert_output "$(printf '%s\n' "$1" 2 1 "$2")"
    assert_no_keys
}

@test "a reply or a request is lost, to take it or to give it back: one hold, nothing left" {
    local fault kind script token
    proxy_start
    for kind in read write; do
        redis FLUSHALL
        token=0
        for script in "$(sha acquire "$kind")" "$(sha release rw)"; do
            for fault in lose-reply mute-reply lose-request; do
                proxy pass
                proxy "$fault" "$script" 1
                look "$kind" $((token += 1))
            done
        done
    done
    assert_bitten lost-reply 8
    assert_bitten lost-request 4
}

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

@test "the reply that lets a waiter in is lost: one section, one token" {
    proxy_start
    holds first write
    brief r w
    waits r read
    waits w write
    proxy lose-reply "$(sha acquire read)" 1 2
    proxy lose-reply "$(sha acquire write)" 1 2
    finish first
    gone 0 r w
    assert_bitten lost-reply 4
    check_history --rule rw --min-sections 3 history
    assert_equal "$(redis GET 'redisson_lock_token:{x}')" 3
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

@test "replies and requests are lost with probability 0.3: read, write and what is nested enter and leave whole" {
    local seed n kinds=('read read' 'write read' 'write write' 'read')
    seed=${RLOCK_TEST_SEED:-$RANDOM}
    echo "seed $seed"
    proxy_start
    proxy drop 0.3 "$seed" evalsha
    for ((n = 0; n < 12 || $(grep -c '^lost-' proxy.log) < 10; n++)); do
        # shellcheck disable=SC2086 # the inner kind may be none
        set -- ${kinds[n % 4]}
        try "$1" -n x -- ${2:+rlock "$2" -n x --} sh -c 'exit 5'
        assert_failure 5
        wait_until 3 assert_free x
    done
    proxy pass
    wait_until 5 assert_no_keys
}
