#!/usr/bin/env bats
# doctor.bats: rlock doctor on one server: a good one has no findings, and each finding is provoked. Its rights stand
# in doctor_rights.bats, replicas, Sentinels, clusters and several servers in doctor_replication.bats, cluster.bats
# and quorum.bats, TLS in access/tls.bats.

load ../../lib/rlock
load ../../lib/doctor
load ../../lib/ports

setup() {
    rlock_setup
    as_it_should_be
}

as_it_should_be() {
    redis CONFIG SET maxmemory 0 maxmemory-policy noeviction timeout 0 maxclients 10000 appendfsync everysec save '' >/dev/null
    well main
}

@test "a good server: status 0, a line for each check; nothing is left behind, and nobody's lock or token touched" {
    local check
    redis SET 'redisson_lock_token:{rlock}' 7
    foreign_hold rlock 60000
    assert_healthy rlock
    assert_line --index 0 "$RLOCK_SERVER:"
    for check in version eviction persistence replicas clients timeout lease slow tls scripts rights processes clock 'round trip' \
        'lock cycle'; do
        assert_says '(ok|note)' "$check" .
    done
    assert_keys rlock
    assert_equal "$(redis GET 'redisson_lock_token:{rlock}')" 7
    assert_equal "$(rlock doctor -q 2>&1)" ""
}

@test "settings of the server, and of the lease: what each is taken for" {
    local ours settings level check text
    while IFS='|' read -r ours settings level check text; do
        as_it_should_be
        printf %b "$ours\n" >"$RLOCK_CONFIG"
        [[ -z $settings ]] || eval "redis CONFIG SET $settings" >/dev/null
        redis SLOWLOG RESET >/dev/null
        if [[ $level == finding ]]; then
            assert_finding "$check" "$text"
        else
            assert_healthy
            assert_says "$level" "$check" "$text"
        fi
    done <<'END'
|maxmemory-policy allkeys-lru|note|eviction|allkeys-lru, but there is no maxmemory
|maxmemory-policy allkeys-lru maxmemory 1gb|finding|eviction|allkeys-lru: .*throws locks away.*noeviction
|appendonly no|finding|persistence|no append-only file and no snapshots.*appendonly yes
|appendonly no save '3600 1'|finding|persistence|snapshots only
|appendfsync no|finding|persistence|appendfsync no
|appendfsync everysec|note|persistence|appendfsync everysec: .*a second of locks.*appendfsync always
|appendfsync always|ok|persistence|append-only file, appendfsync always
|maxclients 200|ok|clients|of 200; a running job has up to 3 connections
|maxclients 199|finding|clients| of 199: a running job has up to 3 connections
|timeout 10|finding|timeout|after 10 s
|timeout 11|ok|timeout|11 s
lease = 5m|timeout 60|finding|timeout|after 60 s
||ok|lease|30s: holders survive an outage of 14 s
lease = 10m||ok|lease|10m: holders survive an outage of 388 s
lease = 1m\nkill-after = 20s||ok|lease|1m: holders survive an outage of 19 s
lease = 1s||note|lease|1s: holders survive an outage of 3[0-9][0-9] ms
END
}

@test "memory: nearly all of maxmemory is used" {
    local share
    redis SETRANGE large 40000000 x # beside which a connection's buffers are nothing
    redis SLOWLOG RESET
    for share in 905:finding 895:ok; do
        redis CONFIG SET maxmemory "$(($(redis INFO memory | sed -n 's/^used_memory:\([0-9]*\).*/\1/p') * 1000 / ${share%:*}))"
        try doctor
        assert_says "${share#*:}" memory 'of maxmemory used'
    done
    assert_success
}

@test "persistence: an append-only file, or a snapshot, that can't be written" {
    launcher=(env --ignore-signal=XFSZ)
    server_start full --appendonly yes
    launcher=()
    RLOCK_SERVER=$(server_url full)
    assert_healthy
    prlimit --pid "$(server_pid full)" --fsize=1: # no file of more than a byte
    redis_on full SET x 1
    wait_until 5 eval '[[ $(redis_on full INFO persistence) == *aof_last_write_status:err* ]]'
    assert_findings persistence "the append-only file can't be written" 'lock cycle' 'cannot take .*MISCONF'
    redis_on full CONFIG SET appendonly no save '3600 1'
    redis_on full BGSAVE
    wait_until 10 eval '[[ $(redis_on full INFO persistence) == *rdb_last_bgsave_status:err* ]]'
    assert_findings persistence 'the last snapshot could not be written' 'lock cycle' 'cannot take .*MISCONF'
    redis_on full CONFIG SET stop-writes-on-bgsave-error no
    assert_finding persistence 'snapshots only'
}

# connect_many N: N more connections to the main server, until the test ends.
connect_many() {
    local wanted=$(($(redis CLIENT LIST | wc -l) + $1))
    helper python3 -c 'import socket, sys, time
held = [socket.socket(socket.AF_UNIX) for _ in range(int(sys.argv[2]))]
for one in held:
    one.connect(sys.argv[1])
time.sleep(600)' "$BATS_FILE_TMPDIR/main/sock" "$1"
    wait_until 10 eval "((\$(redis CLIENT LIST | wc -l) == $wanted))"
}

@test "clients: a running job has no more than that; four fifths of those allowed are a finding, one less is none" {
    local before
    before=$(redis CLIENT LIST | wc -l)
    start fair -n x -l "$(ms 600)" --preemptible -- sh -c 'touch ready; exec sleep 60'
    wait_until 10 test -e ready
    sleep 0.5 # it has renewed, and listens
    (($(redis CLIENT LIST | wc -l) - before <= 3)) || fail "$(redis CLIENT LIST)"
    kill "$pid"
    reap "$pid"
    redis CONFIG SET maxclients 200
    connect_many 158
    assert_healthy # the last is doctor's own
    connect_many 1
    assert_finding clients '160 of 200'
}

@test "clock: by more than a second, and in which direction" {
    local ms level text
    cc -shared -fPIC -O2 -o clock.so "$TOOLS/clock.c"
    : >ahead
    truncate -s 8 ahead
    launcher=(env "LD_PRELOAD=$PWD/clock.so" "CLOCK=$PWD/ahead")
    server_start late
    launcher=()
    RLOCK_SERVER=$(server_url late)
    while IFS='|' read -r ms level text; do
        python3 -c 'import sys; open("ahead", "r+b").write((int(sys.argv[1]) * 1000000).to_bytes(8, sys.byteorder, signed=True))' "$ms"
        try doctor
        assert_says "$level" clock "$text"
    done <<'END'
500|ok|[0-9]+ ms ahead of this machine
1500|note|1[0-9]+ ms ahead of this machine.*NTP
-1500|note|[12][0-9]+ ms behind this machine.*NTP
END
}

@test "auth, tls: a network address without a password, or without encryption" {
    local port url setting
    port=$(free_ports 1)
    url=redis://127.0.0.1:$port
    server_start open --bind 0.0.0.0 --port "$port" --protected-mode no
    well open
    assert_finding auth 'a network address without a password.*anyone who can connect' -s "$url"
    assert_says note tls 'not encrypted'
    for setting in "bind '127.0.0.1 -::1'" 'bind 0.0.0.0 protected-mode yes'; do
        eval "redis_on open CONFIG SET $setting"
        assert_healthy -s "$url"
        assert_says ok auth 'no password, but only this machine can connect'
    done
    redis_on open CONFIG SET requirepass secret protected-mode no
    RLOCK_PASSWORD=secret assert_healthy -s "$url"
    assert_says ok auth 'the server asks for a password'
    refute_output --partial secret
    assert_line --index 0 "$url:"
}

@test "slow: a script that took long" {
    local n
    redis CONFIG SET slowlog-log-slower-than 100000
    # By counting: TIME stands still in a script of Redis 8.
    for ((n = 10000000; $(redis SLOWLOG LEN) == 0; n *= 2)); do
        redis EVAL "local n = 0 for i = 1, $n do n = n + i end" 0
    done
    assert_finding slow 'EVAL took [0-9]{3,} ms'
}

@test "round trip, lock cycle: a slow network" {
    local n
    proxy_start
    for n in 1 2 3 4 5 6; do
        proxy delay-reply PING "$n" 150
    done
    assert_finding 'round trip' '[1-9][0-9][0-9]\.[0-9]+ ms'
    for n in 1 2 3; do
        proxy delay-reply "$(sha release)" "$n" 600
    done
    assert_finding 'lock cycle' '[6-9][0-9][0-9]\.[0-9]+ ms'
    assert_bitten delayed 9
}

@test "a server that takes no locks: memory is out, or it is a replica" {
    redis CONFIG SET maxmemory 1
    assert_findings 'lock cycle' 'cannot take and give back a lock: .*[Mm]emory'
    server_start copy --replicaof 127.0.0.1 1
    assert_findings replicas 'it is a replica itself' -- -s "$(server_url copy)"
}

@test "an old server" {
    local version level text info
    while IFS='|' read -r version level text; do
        info="redis_version:$version\r\n" # to whatever it is asked
        run --separate-stderr python3 "$TOOLS/hostile.py" raw "\$$(printf %b "$info" | wc -c)\r\n$info\r\n" \
            "$RLOCK" doctor -s redis://127.0.0.1:{}
        assert_says "$level" version "$text"
        refute_line --regexp 'cannot tell: *$'
    done <<'END'
5.0.14|finding|Redis 5\.0\.14 is too old
6.0.5|finding|Redis 6\.0\.5 is too old
6.0.16|note|Redis 6\.0\.16
END
}

@test "what this user may not ask is unknown, and no finding" {
    redis ACL SETUSER default -info -config -slowlog >/dev/null
    try doctor
    redis ACL SETUSER default +@all >/dev/null
    assert_success
    for check in version persistence replicas clients; do
        assert_says unknown "$check" 'no right to INFO'
    done
    assert_says unknown timeout 'no right to CONFIG GET'
    assert_says unknown slow 'no right to SLOWLOG GET'
    server_start renamed --rename-command CONFIG '' --rename-command SLOWLOG ''
    try doctor -s "$(server_url renamed)"
    assert_says unknown timeout 'cannot tell: the server refuses CONFIG GET$'
    assert_says unknown slow 'the server refuses SLOWLOG GET$'
    refute_output --partial 'no right'
}

@test "the server is away, or wants a password" {
    ends_saying 69 -- doctor -s unix:///nowhere/sock
    assert_output ""
    run -69 --separate-stderr rlock doctor --json -q -s unix:///nowhere/sock
    assert_output ""
    server_start guarded --requirepass secret
    ends_saying 77 password -- doctor -s "$(server_url guarded)"
    assert_output ""
}

# A redis-server that was started with a configuration file, whose name would hide what a terminal shows behind it.
with_file() { # SERVER
    env -u TEST_MARK redis-server "$PWD/$1"$'.\e[8m.conf' --unixsocket "$BATS_FILE_TMPDIR/$1/sock" --port 0 \
        --dir "$BATS_FILE_TMPDIR/$1" --daemonize no >/dev/null 2>&1 3>&- 4>&- &
    echo $! >"$BATS_FILE_TMPDIR/$1/pid"
    wait_until 10 server_up "$1"
}

@test "on a terminal lines are wrapped, and what to paste has its own; carried out, it outlasts a restart" {
    local command
    mkdir "$BATS_FILE_TMPDIR/filed"
    servers+=(filed)
    printf '%s\n' 'save ""' 'maxmemory 1gb' 'maxmemory-policy allkeys-lru' >filed.$'\e[8m'.conf
    with_file filed
    run -1 python3 "$TOOLS/terminal.py" --columns 80 -- "$RLOCK" doctor -s "$(server_url filed)"
    run tr -d '\r' <<<"$output"
    assert_equal "$(grep -v "^unix:\|$PWD\|$BATS_FILE_TMPDIR" <<<"$output" | awk 'length > 80')" ''
    assert_line --regexp '^ {29}CONFIG SET maxmemory-policy noeviction$'
    assert_line --regexp '^ {29}CONFIG SET appendonly yes$'
    grep '^ \{29\}CONFIG ' <<<"$output" >advised
    grep -qx ' *CONFIG REWRITE' advised
    while read -ra command; do
        redis_on filed "${command[@]}"
    done <advised
    server_stop filed
    with_file filed
    assert_healthy -s "$(server_url filed)"
    assert_says ok config "$PWD"'/filed\.\?\[8m\.conf'
}

@test "without a file CONFIG SET is not advised" {
    local setting
    redis CONFIG SET appendonly no maxclients 9 timeout 5 maxmemory-policy allkeys-lru maxmemory 1gb
    try doctor
    assert_says note config 'no configuration file'
    refute_output --regexp '; CONFIG SET'
    for setting in 'appendonly yes' 'timeout 0' 'maxmemory-policy noeviction'; do
        assert_output --partial "start it with a redis.conf that has $setting"
    done
}

@test "--json: an array of what the lines say" {
    redis CONFIG SET timeout 5
    run -1 --separate-stderr rlock doctor --json
    run python3 -c '
import json, sys
rows = json.loads(sys.argv[1])
assert all(list(row) == ["check", "server", "level", "found", "advice"] for row in rows), rows
assert all(row["level"] in ("ok", "note", "unknown", "finding") and row["found"] for row in rows), rows
assert all((row["advice"] is None) == (row["level"] in ("ok", "unknown")) for row in rows), rows
print(*[(row["check"], row["server"]) for row in rows if row["level"] == "finding"])
' "$output"
    assert_success
    assert_output "('timeout', '$RLOCK_SERVER')"
}
