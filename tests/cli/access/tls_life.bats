#!/usr/bin/env bats
# tls_life.bats: what takes longer than one request, over TLS: waiting, renewing, servers that go and
# come back; a quorum, Sentinels and a cluster.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/tls

# Everybody here trusts the authority, by the config file.
setup() {
    tls_setup
    echo "tls-ca = $certificates/ca.pem" >"$RLOCK_CONFIG"
}

# begins NAME CERTIFICATE [OPTION...]: a server, for all who come now.
begins() {
    tls_server "$@"
    RLOCK_SERVER=$(tls_url "$1")
}

# comes_back NAME CERTIFICATE: on the same ports, knowing nothing of before.
comes_back() {
    server_stop "$1"
    tls_server "$@"
}

# waits WHO: a background rlock of x that waits, and listens.
waits() {
    act "$1" run
    wait_until 10 waiters x 1 tls
}

@test "a lock is renewed over a connection of its own, and handed over by a message" {
    begins tls server
    holds holder run -l "$(ms 1000)"
    waits waiter
    brief waiter
    wait_until 10 eval "((\$(calls evalsha tls) >= $(($(calls evalsha tls) + 5))))" # one every third of the lease
    refute_entered waiter
    finish holder
    gone 0 waiter
    assert_gap holder waiter 1500
    assert_equal "$(redis_on tls --scan)" 'redisson_lock_token:{x}'
}

@test "the server comes back: a waiter finds it; with a bad certificate: 77, and 76 before the lease is over" {
    local certificate begin lease=$((1500 * SLOW))
    for certificate in server expired; do
        rm -f history end-*
        begins tls server
        holds holder run -l "${lease}ms"
        waits waiter
        brief waiter
        begin=$(now_ms)
        comes_back tls "$certificate" # and does not know of the holder any more
        if [[ $certificate == server ]]; then
            gone 0 waiter
            gone 76 holder
        else
            gone 77 waiter
            refute_entered waiter
            assert_regex "$(cat waiter.err)" 'its certificate has expired'
            gone 76 holder
            (($(now_ms) - begin <= lease + 3000)) || fail 'too late'
            # Whether keeper or guardian sees it first is a matter of chance.
            assert_regex "$(cat holder.err)" 'its certificate has expired|could not be renewed in time'
            assert_no_processes "TEST_MARK=$TEST_MARK"
        fi
        server_stop tls
    done
}

# --- several servers ---------------------------------------------------------------------------

@test "a quorum over TLS; one that is not to be trusted counts as one that is away" {
    local name urls=()
    for name in one two three; do
        tls_server "$name" server
        urls+=(-s "$(tls_url "$name")")
    done
    run -0 rlock run "${urls[@]}" -n x -- sh -c 'echo "$RLOCK_SERVER"; rlock run -x -n x -- true'
    assert_output "$(tls_url one) $(tls_url two) $(tls_url three)"
    comes_back two expired
    rlock run "${urls[@]}" -n x -- true
    comes_back three expired
    refused 77 'its certificate has expired' -- run "${urls[@]}" -n x
}

# A Sentinel, one master, both with TLS only.
sentinel_with_tls() {
    local dir=$BATS_FILE_TMPDIR/sentinel
    mkdir -p "$dir"
    [[ -f $dir/ports ]] || free_ports 2 >"$dir/ports"
    cat >"$dir/sentinel.conf" <<-END
	port 0
	tls-port $(tls_port sentinel)
	bind 127.0.0.1
	tls-cert-file $certificates/server.pem
	tls-key-file $certificates/server.key
	tls-ca-cert-file $certificates/ca.pem
	tls-auth-clients no
	tls-replication yes
	sentinel monitor m 127.0.0.1 $(tls_port tls) 1
	END
    env -u TEST_MARK redis-server "$dir/sentinel.conf" --sentinel --unixsocket "$dir/sock" --dir "$dir" \
        --logfile "$dir/log" </dev/null >/dev/null 2>&1 3>&- 4>&- &
    echo $! >"$dir/pid"
    servers+=(sentinel)
    wait_until 10 server_up sentinel
}

@test "sentinels://: the Sentinels and the master over TLS" {
    local url
    begins tls server
    sentinel_with_tls
    url=sentinels://127.0.0.1:$(tls_port sentinel)/m
    run -0 rlock run -s "$url" -n x -- sh -c 'echo "$RLOCK_SERVER"; rlock run -x -n x -- true'
    assert_output "$url"
    assert_equal "$(redis_on tls --scan)" 'redisson_lock_token:{x}'
    refused 77 'an authority that is not in' -- run -s "$url" --tls-ca "$certificates/other-ca.pem" -n x
}

# Two nodes, each with half of the slots.
cluster_with_tls() {
    local name bus
    read -ra bus <<<"$(free_ports 2)"
    for name in n1 n2; do
        tls_server "$name" server --tls-cluster yes --tls-replication yes --cluster-enabled yes \
            --cluster-port "${bus[0]}" --cluster-node-timeout 2000 --cluster-config-file nodes.conf
        bus=("${bus[@]:1}" "${bus[0]}")
    done
    redis_on n1 CLUSTER ADDSLOTSRANGE 0 8191
    redis_on n2 CLUSTER ADDSLOTSRANGE 8192 16383
    redis_on n2 CLUSTER SET-CONFIG-EPOCH 2
    redis_on n1 CLUSTER MEET 127.0.0.1 "$(tls_port n2)" "${bus[1]}"
    for name in n1 n2; do
        wait_until 20 eval '[[ $(redis_on "$name" CLUSTER INFO) == *cluster_state:ok* ]]'
    done
}

@test "clusters://: all nodes over TLS, also those that the cluster names" {
    local url
    cluster_with_tls
    url=clusters://127.0.0.1:$(tls_port n1)
    run -0 rlock run -s "$url" -n bar -n foo -- printenv RLOCK_SERVER
    assert_output "$url"
    assert_equal "$(redis_on n1 --scan)" "redisson_lock_token:{bar}" # slot 5061
    assert_equal "$(redis_on n2 --scan)" "redisson_lock_token:{foo}" # slot 12182
}

# To which address a name leads by then is in topology/moved.bats.
@test "the certificate is for the name, whatever address that leads to: renewed, and given back" {
    local addressed=(named "$RLOCK" run -n x -l "$(ms 600)" -s)
    may_name || skip "needs the right to mount"
    begins tls server --bind 127.0.0.2
    echo "127.0.0.2 redis.example" >hosts
    run -0 "${addressed[@]}" "rediss://redis.example:$(tls_port tls)" -- sleep "$SLOW"
    assert_output ''
    assert_equal "$(redis_on tls --scan)" 'redisson_lock_token:{x}'
    run -77 "${addressed[@]}" "rediss://127.0.0.2:$(tls_port tls)" -- touch ran
    assert_output --partial 'not for 127.0.0.2'
}
