#!/usr/bin/env bats
# doctor_replication.bats: rlock doctor on a server with replicas, and behind Sentinels.

load ../../lib/rlock
load ../../lib/sentinel
load ../../lib/doctor

sentinels() { # SETTING VALUE
    local sentinel
    for sentinel in s1 s2 s3; do
        redis_on "$sentinel" SENTINEL SET m "$@"
    done
}

have() { # N PATTERN: so many replicas, as main's INFO shows them
    (($(redis INFO replication | grep -cE "^slave[0-9]+:.*$2") == $1))
}

@test "replicas: counted, a note where none has to acknowledge; those that are not online, or lag" {
    changed
    well main
    RLOCK_SERVER=$(port_url main)
    assert_healthy --replicas 1
    assert_says ok replicas '2, 1 must acknowledge'
    assert_healthy
    assert_says note replicas '2, and none has to acknowledge'
    redis CONFIG SET repl-diskless-sync-delay 600
    data_server three --replicaof 127.0.0.1 "$(port_of main)"
    wait_until 10 have 1 state=wait_bgsave
    assert_finding replicas '1 of 3 replicas are behind or not online.*INFO replication'
    freeze one two
    wait_until 15 have 2 'state=online.*lag=([4-9]|[1-9][0-9])'
    assert_finding replicas '3 of 3 replicas are behind or not online'
    assert_findings replicas '--replicas 1 and 0 of 3' -- --replicas 1 --replica-timeout "$(ms 50)"
}

@test "fewer replicas than --replicas or min-replicas-to-write ask for" {
    port_server lone
    RLOCK_SERVER=$(port_url lone)
    assert_findings replicas '--replicas 1 and 0 of 0' 'lock cycle' acknowledged -- --replicas 1 --replica-timeout "$(ms 50)"
    redis_on lone CONFIG SET min-replicas-to-write 1
    assert_findings replicas 'min-replicas-to-write is 1 and 0 of 0' 'lock cycle' .
}

@test "Sentinels: all is well, but for what each of the Sentinels lacks" {
    well main
    changed
    sentinels down-after-milliseconds 5000
    assert_healthy
    assert_says ok sentinel '3 of 3 answer'
    assert_says ok replicas '2, 2 must acknowledge'
    assert_healthy -s "$(sentinel_url s1)"
    assert_says note sentinel 'one of them in the URL'
    assert_finding replicas '--replicas 0' --replicas 0
    sentinels down-after-milliseconds 30000
    assert_finding sentinel 'down-after-milliseconds is 30000'
    sentinels down-after-milliseconds 5000
    sentinels quorum 4
    assert_finding sentinel 'no failover is possible now: .*quorum'
    sentinels quorum 1
    server_stop s3
    assert_finding sentinel '1 of 3 Sentinels do not answer, such as 127.0.0.1:'
    redis_on s1 SENTINEL RESET m # s3 never was
    wait_until 15 eval '[[ $(redis_on s1 SENTINEL MASTER m | grep -A1 -x num-other-sentinels) == *1 ]]'
    assert_finding sentinel 'fewer than three Sentinels, 2' -s "$(sentinel_url s1 s2)"
    server_stop s2
    redis_on s1 SENTINEL RESET m # they never were
    assert_finding sentinel 'fewer than three Sentinels, 1' -s "$(sentinel_url s1)"
}
