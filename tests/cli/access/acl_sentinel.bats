#!/usr/bin/env bats
# acl_sentinel.bats: the rights that rlock-server(7) gives under Sentinel, to the servers' users and to those of
# the Sentinels; and for --replicas without any.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/sentinel
load ../../lib/rights

# allow WITHOUT: the user app, on servers and Sentinels. The Sentinels speak to each other as default, who
# may not be asked.
allow() {
    local name
    for name in main one two; do
        give "$name" app "$1" run sentinel://
    done
    for name in s1 s2 s3; do
        give "$name" app "$1" 'the Sentinels'
        redis_on "$name" ACL SETUSER default '-sentinel|get-master-addr-by-name' >/dev/null
    done
    RLOCK_SERVER=$(sentinel_url | sed 's,://,&app:secret@,')
}

@test "the rules of a kind, of Sentinel and of the Sentinels are enough" {
    allow ''
    holds first run -l "$(ms 900)"
    act second run -q
    wait_until 5 waiters x 1
    finish first second
    assert_equal "$(cat first.err second.err)" ""
    run -0 rlock run -n x -- rlock run -x -n x -- echo inside
    assert_output inside
    assert_no_keys
}

@test "77: without WAIT, or the right to ask the Sentinels; who may not ask for replicas takes them to be there" {
    local without
    for without in +wait '+sentinel|get-master-addr-by-name'; do
        allow "$without"
        ends_saying 77 -- run -n x -- touch ran
        assert_no_keys
        [[ $without != +wait ]] || rlock run --replicas 0 -n x -- true
    done
    allow '+sentinel|replicas'
    rlock run -n x -- true
    (($(calls wait) >= 1))
}

@test "a replica that the Sentinels miss is not waited for; doctor says where they may not be asked for each other" {
    local name
    changed
    allow ''
    redis_on s2 SENTINEL SET m down-after-milliseconds 1000 >/dev/null # as s1: all of them must miss it
    redis_on s3 SENTINEL SET m down-after-milliseconds 1000 >/dev/null
    server_stop two
    took 0 3500 rlock run -n x -- true
    assert_success
    for name in s1 s2 s3; do
        redis_on "$name" ACL SETUSER app '-sentinel|sentinels' >/dev/null
    done
    run -1 rlock doctor
    assert_line --regexp '^finding +sentinel .*one replica that is gone stops all locks: .*\+sentinel\|sentinels'
}

@test "--replicas on a server: its rule is enough, and needed" {
    give main app '' run --replicas
    RLOCK_SERVER=redis://app:secret@127.0.0.1:$(port_of main)
    rlock run --replicas 1 -n x -- true
    give main app '' run
    run -77 rlock run --replicas 1 -n x -- touch ran
    assert_file_not_exist ran
    assert_no_keys
}
