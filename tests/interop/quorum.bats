#!/usr/bin/env bats
# quorum.bats: rlock on several servers and Redisson's RedLock are one lock.

load ../lib/rlock
load ../lib/quorum
load interop

all=(m1 m2 m3)
shared=("${all[@]}" main)

setup_file() {
    local member port
    build_section
    interop_server
    for member in "${all[@]}"; do
        port=$(free_ports 1)
        echo "$port" >"$BATS_FILE_TMPDIR/$member.port"
        server_start "$member" --bind 127.0.0.1 --port "$port"
    done
    java_start j timeout=$((1000 * SLOW)) retries=1
    java_start k timeout=$((1000 * SLOW)) retries=1 watchdog="$DYING_MS"
}

java_servers() {
    mapfile -t ports < <(cat "$BATS_FILE_TMPDIR"/m?.port)
    echo "servers=$(redis_urls "${ports[@]}")"
}

setup() {
    interop_setup
    quorum "${all[@]}"
    reset "${all[@]}"
}

form[red]=run

@test "either keeps the other out, and leaves nothing; with a server that hangs the others are a majority for both" {
    excludes red x red
    passes j1 red x
    wait_until 5 free_everywhere x
    rm history end-*
    pause m3
    excludes red x red
    resume m3
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
    [[ -n $(on "${all[@]}" -- PUBSUB CHANNELS '*{x}*') ]]
}

@test "a killed service, a killed rlock: who waits on the other side enters when the lease is over" {
    local end
    enters k1 red x
    comes a red x lease="$DYING_MS"
    wait_until 10 listening_anywhere
    end=$(redis_on m1 PEXPIRETIME x)
    java_kill k
    enters_at "$end" a
    comes j1 red x
    wait_until 10 listening_anywhere
    end=$(redis_on m1 PEXPIRETIME x)
    signal KILL a
    gone 137 a
    enters_at "$end" j1
    leaves j1
}

@test "status shows a service's hold on each server; break frees it, and a Java thread that waits has it" {
    enters j1 red x
    rlock status --json x >said # another owner on each server: of each client of Redisson's
    assert_equal "$(grep -o '"state":"[a-z]*"' said | sort | uniq -c | xargs)" '3 state:held'
    assert_equal "$(grep -o "$(told j1 owner)" said)" "$(told j1 owner)"
    comes j2 red x
    wait_until 10 listening_anywhere
    rlock break --force x
    wait_until 2 entered_section j2
    leaves j2
}
