#!/usr/bin/env bats
# quorum.bats: rlock on several servers and Redisson's RedLock are one lock.

load ../lib/rlock
load ../lib/ports
load ../lib/actors
load ../lib/quorum
load interop

all=(m1 m2 m3)

setup_file() {
    local member
    build_section
    interop_server
    local -a ports
    read -ra ports <<<"$(free_ports 3)"
    for member in "${all[@]}"; do
        echo "${ports[0]}" >"$BATS_FILE_TMPDIR/$member.port"
        ports=("${ports[@]:1}")
        member_start "$member"
    done
    java_start j timeout=$((1000 * SLOW)) retries=1
}

member_start() {
    server_start "$1" --bind 127.0.0.1 --port "$(<"$BATS_FILE_TMPDIR/$1.port")"
}

java_servers() {
    local member list=
    for member in "${all[@]}"; do
        list+=",redis://127.0.0.1:$(<"$BATS_FILE_TMPDIR/$member.port")"
    done
    echo "servers=${list#,}"
}

setup() {
    interop_setup
    quorum "${all[@]}"
    members reset "${all[@]}"
}

teardown() {
    java_forget
    rlock_teardown
}

teardown_file() {
    local member
    java_stop
    for member in "${all[@]}" main; do
        server_stop "$member"
    done
}

form[red]=run

@test "either keeps the other out, and leaves nothing" {
    enters j1 red x
    shut_out a red x
    leaves j1
    enters a red x
    shut_out j1 red x
    leaves a
    passes j1 red x
    wait_until 5 free_everywhere x
}

@test "who waits is woken by a message, in both directions" {
    local who last=a
    enters a red x
    for who in j1 b j2 c; do
        comes "$who" red x
        wait_until 10 listening_anywhere
        leaves "$last"
        wait_until 10 entered_section "$who"
        last=$who
    done
    leaves c
    judge_gaps red "$(gaps a j1 b j2 c)"
}

listening_anywhere() {
    local member
    for member in "${all[@]}"; do
        [[ -z $(redis_on "$member" PUBSUB CHANNELS '*{x}*') ]] || return 0
    done
    return 1
}

@test "with a server that hangs the others are a majority for both" {
    pause m3
    enters a red x
    shut_out j1 red x
    leaves a
    enters j1 red x
    shut_out a red x
    leaves j1
    resume m3
}
