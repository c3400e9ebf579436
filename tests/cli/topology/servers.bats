#!/usr/bin/env bats
# servers.bats: addresses, passwords, and what is said of a server that can't be reached.

load ../../lib/rlock

# on NET ARG...: rlock run in the network namespace of that server.
on() {
    local net=$1
    shift
    run --separate-stderr in_net "$net" timeout -s KILL $((60 * SLOW)) "$RLOCK" "$@"
}

@test "redis://: host, port and IPv6 in brackets, the default port is 6379; a database, of a socket too" {
    local url urls=(redis://127.0.0.1 redis://127.0.0.1:6379 'redis://[::1]' 'redis://[::1]:6379/' redis://127.0.0.1:6379/0)
    # A bare Debian 12 tree has no /etc/hosts that would know it.
    ! getent hosts localhost >/dev/null || urls+=(redis://localhost)
    net_server net
    for url in "${urls[@]}"; do
        on net run -s "$url" -n "$url" -- true
        assert_equal "$status: $url: $stderr" "0: $url: "
        assert_equal "$(redis_on net GET "redisson_lock_token:{$url}")" 1
    done
    redis_on net FLUSHALL
    on net run -s redis://127.0.0.1/7 -n x -- printenv RLOCK_SERVER
    assert_output --regexp '/7$'
    rlock run -s "$(server_url net)?db=3" -n x -- rlock run -x -n x -- true
    assert_equal "$(redis_on net -n 7 GET 'redisson_lock_token:{x}')" 1
    assert_equal "$(redis_on net -n 3 GET 'redisson_lock_token:{x}')" 1
    assert_equal "$(redis_on net -n 0 DBSIZE)" 0
}

@test "user and password in the address, percent-encoded; the command sees neither password nor a broken address" {
    net_server net
    redis_on net ACL SETUSER alice on '>p@ss:w/rd' allkeys allchannels +@all
    redis_on net ACL SETUSER default off
    on net run -s 'redis://alice:p%40ss%3Aw%2Frd@127.0.0.1:6379/2' -n x -- env
    assert_success
    refute_output --partial 'p%40ss'
    refute_output --partial 'p@ss'
    assert_output --partial RLOCK_SERVER=redis://alice@127.0.0.1:6379/2
    on net run -s 'redis://alice@127.0.0.1' -n x -- true
    assert_failure 77
    RLOCK_PASSWORD='p@ss:w/rd' on net run -s 'redis://alice@127.0.0.1' -n x -- true
    assert_success
}

@test "a password is in no message, whatever goes wrong" {
    local url
    for url in redis://u:sesame@127.0.0.1:1 redis://u:sesame@127.0.0.1:port redis://u:sesame@127.0.0.1/x \
        redis://u:sesame@ rediss//u:sesame@h redis://:sesame@nowhere.invalid; do
        try run -x -v -s "$url" -n x -- true
        assert_failure
        assert_stderr_has "rlock: "
        refute_regex "$stderr" sesame
        RLOCK_SERVER=$url try run -x -v --log json -n x -- true
        assert_failure
        refute_regex "$stderr" sesame
    done
}

@test "no server is named: 78, the three ways to name one, and none is asked, also where one listens" {
    local words
    net_server net
    unset RLOCK_SERVER
    export RLOCK_PASSWORD=unused
    for words in 'run -x -n x -- touch ran' 'fair -n x -c true' 'read -n x -- true' 'write -n x -- true' \
        'sem -n x --permits 1 -- true' 'sem -n x --resize 2' 'latch set -n x --count 1' 'latch down -n x' \
        'latch down -n x -- touch ran' 'latch wait -n x' 'acquire run -n x' "acquire run -n x --while $$" \
        'status' 'status -q x' 'status --json' 'break --force x' 'doctor' 'doctor --json'; do
        # shellcheck disable=SC2086
        run --separate-stderr in_net net "$RLOCK" $words
        assert_equal "$status: $words" "78: $words"
        assert_message
        assert_stderr_has 'no server' '-s URL' "'server = URL' in /etc/rlock.conf" '-s local:'
        assert_output ''
    done
    assert_file_not_exist ran
    assert_equal "$(redis_on net INFO stats | sed -n 's/^total_connections_received:\([0-9]*\).*/\1/p')" 2 # redis-cli's
}

@test "69: a server that can't be reached, a host that has no address: by its name, and no word of local:" {
    local url
    unshare -n true || skip "needs the right to make a network namespace"
    for url in redis://127.0.0.1:7000/3 redis://nowhere.invalid; do
        run --separate-stderr unshare -n python3 "$TOOLS/loopback.py" \
            "$RLOCK" run -x --connect-timeout 1s -s "$url" -n x -- touch ran
        assert_equal "$url: $status" "$url: 69"
        assert_message
        assert_stderr_has "$url"
        refute_regex "$stderr" local:
    done
    assert_file_not_exist ran
}

@test "a server that comes up within --connect-timeout is used" {
    start run --connect-timeout 5s -s "$(server_url late)" -n x -- true
    wait_until 2 in_state "$pid" S
    server_start late
    reaps 0 "$pid"
}
