#!/usr/bin/env bats
# status_all.bats: all locks of a server are found by `rlock status`, and it goes on with its work
# meanwhile; with what rights.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/rights
load ../../lib/acl
load ../../lib/status

# One of each kind, by Redisson where it leaves other keys than rlock, and much that is no lock.
fill() {
    redis EVAL "
        local java, now = ARGV[1], redis.call('TIME')[1] * 1000
        redis.call('HSET', 'mutex', java, 1) redis.call('PEXPIRE', 'mutex', 60000)
        redis.call('HSET', 'braces{x}', java, 1)
        redis.call('HSET', 'reads', 'mode', 'read', java, 1) redis.call('PEXPIRE', 'reads', 60000)
        redis.call('SET', '{reads}:' .. java .. ':rwlock_timeout:1', 1, 'PX', 60000)
        redis.call('SET', 'leased', 2) redis.call('ZADD', '{leased}:timeout', now + 60000, '0123456789abcdef')
        redis.call('RPUSH', 'redisson_lock_queue:{queue}', java)
        redis.call('ZADD', 'redisson_lock_timeout:{queue}', now + 60000, java)
        redis.call('SET', 'used', 3) redis.call('SET', 'redisson_lock_token:{used}', 7)
        redis.call('SET', 'redisson_lock_token:{over}', 7)
        redis.call('SET', 'counter', 5) redis.call('HSET', 'user', 'name', 1) redis.call('SADD', 'set', 1)
        redis.call('HSET', 'a:{b}:c', 'x', 1, 'mode', 'dark') redis.call('ZADD', '{zset}:timeout', 1, 'x')
        redis.call('HSET', 'dead', 'mode', 'read', java, 1)" 0 "$JAVA" >/dev/null
}

@test "all that is held or waited for is found, and what counts; a token, a counter and a hash are not" {
    fill
    redis SET n 1 >/dev/null
    try latch set -n latch --count 2
    holds a run
    see_unchanged
    assert_seen 'sorted(by)' "['braces{x}', 'latch', 'leased', 'mutex', 'queue', 'reads', 'used', 'x']"
    assert_seen '[by[n]["kind"] for n in sorted(by)]' "['run', 'latch', 'sem', 'run', 'fair', 'read', 'sem', 'run']"
    assert_seen 'by["queue"]["state"], by["used"]["state"], by["reads"]["state"]' "('free', 'free', 'held')"
    assert_seen 'v[0]["name"]' x # the newest, of those of which it is known
    finish a
}

@test "nothing is there: an empty array, and nothing in a table; on a terminal: no locks" {
    see
    assert_equal "$seen" '[]'
    assert_equal "$(rlock status 2>/dev/null)" ""
    NO_COLOR=1 on_terminal 80 -- status
    assert_success
    assert_output "rlock: $RLOCK_SERVER, from RLOCK_SERVER"$'\r\nno locks\r'
    on_terminal 80 -- status --json
    assert_output $'[]\r'
}

@test "a million keys: no step keeps the server for longer than 10 ms; a line on a terminal tells how far it is" {
    needs_server 7.0 --enable-debug-command
    local socket=$BATS_FILE_TMPDIR/big/sock usec
    server_start big --enable-debug-command yes --slowlog-log-slower-than $((10000 * SLOW)) --slowlog-max-len 1000
    timeout $((60 * SLOW)) redis-cli -s "$socket" DEBUG POPULATE 1000000 key 8
    redis-cli -s "$socket" HSET mutex "$JAVA" 1
    redis-cli -s "$socket" SLOWLOG RESET
    run python3 "$TOOLS/terminal.py" --timeout $((50 * SLOW)) -- "$RLOCK" status --json -s "unix://$socket"
    assert_success
    assert_output --regexp 'rlock: looking for locks: [0-9]+ keys'
    assert_output --partial '"name":"mutex"'
    # Of 4000 steps some are held up by other processes of this machine: that is not the server's work.
    (($(redis-cli -s "$socket" SLOWLOG LEN) <= 200)) || fail "$(redis-cli -s "$socket" SLOWLOG GET 5)"
    usec=$(redis-cli -s "$socket" INFO commandstats | sed -n 's/^cmdstat_evalsha:.*usec_per_call=\([0-9]*\).*/\1/p')
    ((usec > 0 && usec < 5000 * SLOW)) || fail "$usec us a step"
}

@test "a hash whose field mode is 1.5 MiB is no lock: what is beside it is found, and its names are for completions" {
    fill
    redis EVAL "redis.call('HSET', 'cfg', 'mode', string.rep('m', 1572864), 'a', 'b')" 0
    see
    assert_seen '"reads" in by, "cfg" in by' '(True, False)'
    assert_equal "$(rlock status --list-names | grep -xc -e reads -e cfg)" 1
}

@test "status: its rules are enough, with names and without, and none of them writes" {
    fill
    redis RENAME mutex xmutex
    run rules status 'status No without NAME'
    refute_output --regexp '\+(set|del|hset|zadd|publish|pexpire)'
    allow 'status No without NAME'
    see
    assert_seen 'sorted(by)' "['xmutex']" # the others are none of its business
    allow status
    see xmutex
    assert_seen 'v[0]["state"]' held
    allow wait # the same
    run -75 rlock wait -x xmutex
    run -77 rlock status y
    ends_saying 77 'look for locks' -- status -s "$RLOCK_SERVER"
}

@test "status: without any of its rules it is refused" {
    local kind rule names
    redis HSET x mode write "$JAVA:write" 1
    redis PEXPIRE x 60000
    redis SET '{x}:wait_write' "$JAVA"
    redis HSET x1 "$JAVA" 1
    redis RPUSH 'redisson_lock_queue:{x1}' "$JAVA"
    while IFS='|' read -r rule kind names; do
        allow "$kind" "$rule"
        # shellcheck disable=SC2086
        try status $names
        assert_equal "$rule: $status" "$rule: 77"
    done < <(
        rules status | grep '^+' | grep -vxE '\+(evalsha|eval)' | sed 's/$/|status|x x1/'
        printf '+%s|status No without NAME|\n' scan hlen hkeys hstrlen hget type
    )
}
