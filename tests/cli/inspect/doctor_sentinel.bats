#!/usr/bin/env bats
# doctor_sentinel.bats: rlock doctor behind Sentinels.

load ../../lib/rlock
load ../../lib/sentinel
load ../../lib/doctor

sentinels() { # SETTING VALUE
    local sentinel
    for sentinel in s1 s2 s3; do
        redis_on "$sentinel" SENTINEL SET m "$@"
    done
}

knows_another() { # SENTINEL
    [[ $(redis_on "$1" SENTINEL MASTER m | grep -A1 -x num-other-sentinels) == *1 ]]
}

@test "all is well, but for what each of the Sentinels lacks" {
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
    wait_until 15 knows_another s1
    assert_finding sentinel 'fewer than three Sentinels, 2' -s "$(sentinel_url s1 s2)"
    server_stop s2
    redis_on s1 SENTINEL RESET m # they never were
    assert_finding sentinel 'fewer than three Sentinels, 1' -s "$(sentinel_url s1)"
}
