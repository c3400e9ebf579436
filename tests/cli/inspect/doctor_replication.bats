#!/usr/bin/env bats
# doctor_replication.bats: rlock doctor on a server with replicas.

load ../../lib/rlock
load ../../lib/replicas
load ../../lib/doctor

setup() {
    rlock_setup
    port_server master
    well master
    RLOCK_SERVER=$(server_url master)
}

has_replica() { # PATTERN: as its INFO shows it
    redis_on master INFO replication | grep -qE "^slave[0-9]+:.*$1"
}

@test "a replica: counted, a note where none has to acknowledge; one that is not online, or lags" {
    replica_server copy master
    assert_healthy --replicas 1
    assert_says ok replicas '1, 1 must acknowledge'
    assert_healthy
    assert_says note replicas '1, and none has to acknowledge'
    redis_on master CONFIG SET repl-diskless-sync-delay 600
    port_server late --replicaof 127.0.0.1 "$(port_of master)"
    wait_until 10 has_replica state=wait_bgsave
    assert_finding replicas '1 of 2 replicas are behind or not online.*INFO replication'
    freeze copy
    wait_until 15 has_replica 'state=online.*lag=([4-9]|[1-9][0-9])'
    assert_finding replicas '2 of 2 replicas are behind or not online'
    assert_findings replicas '--replicas 1 and 0 of 2' -- --replicas 1 --replica-timeout "$(ms 50)"
}

@test "fewer than --replicas or min-replicas-to-write ask for" {
    assert_findings replicas '--replicas 1 and 0 of 0' 'lock cycle' acknowledged -- --replicas 1 --replica-timeout "$(ms 50)"
    redis_on master CONFIG SET min-replicas-to-write 1
    assert_findings replicas 'min-replicas-to-write is 1 and 0 of 0' 'lock cycle' .
}
