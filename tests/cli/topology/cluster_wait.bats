#!/usr/bin/env bats
# cluster_wait.bats: waiting in a cluster: woken by message on the shard's channels, several names
# across slots, and what a waiter leaves behind.

load ../../lib/rlock
load ../../lib/cluster

# hands_over NAME HOLDER WAITER: kinds; the waiter is woken by the end of the other's hold.
hands_over() {
    local name=$1 node
    shift
    node=$(home "$name")
    rm -f history end-a
    brief b
    # shellcheck disable=SC2086 # a kind and its options
    holds_on "$name" a $1
    # shellcheck disable=SC2086
    act_on "$name" b $2
    wait_until 5 waiting "$node" "$name" 1
    finish a
    gone 0 b
    assert_gap a b 1500
    at "$name" DEL "$name" >/dev/null # a semaphore's number
}

@test "each kind is handed over by message, and on each master" {
    local name pair
    for name in $(cluster names); do
        hands_over "$name" run run
    done
    for pair in 'write/read' 'read/write' 'fair/fair' 'run/fair' 'sem --permits 1/sem --permits 1'; do
        hands_over "$name" "${pair%/*}" "${pair#*/}"
    done
    at "$name" SET "$name" 1 >/dev/null
    hands_over "$name" 'sem --plain' 'sem --plain'
    nothing_left
}

@test "a latch that opens lets all in, whatever its slot" {
    local name node n
    for name in $(cluster names); do
        node=$(home "$name")
        rm -f history
        brief a b c
        rlock latch set -n "$name" --count 1
        for n in a b c; do
            log=$n start latch wait -n "$name" -- "$SECTION" --log history --note "who=$n" --until "end-$n"
            pid_of["$n"]=$pid
        done
        wait_until 5 waiting "$node" "$name" 3
        rlock latch down -n "$name"
        gone 0 a b c
    done
    nothing_left
}

# Redisson: its channel has braces of its own around the name's.
@test "a latch whose name has braces: its channel is in another slot, and heard all the same" {
    local begin
    rlock latch set -n 'a{b}c' --count 1
    start latch wait -n 'a{b}c' -- true
    wait_until 5 listens_on_latch
    begin=$(now_ms)
    rlock latch down -n 'a{b}c'
    reap "$pid"
    assert_equal "$status" 0
    (($(now_ms) - begin < 1000 * SLOW)) || fail "opened $(($(now_ms) - begin)) ms later"
    nothing_left
}

listens_on_latch() {
    [[ -n $(at 'a{b}c' PUBSUB CHANNELS '*countdownlatch*') ]]
}

@test "waiters listen on shard channels, on their slot's master, and nowhere else" {
    local node each
    node=$(home x)
    holds a run
    act b run
    wait_until 5 waiting "$node" x 1
    assert_regex "$(redis_on "$node" PUBSUB SHARDCHANNELS)" 'redisson_lock__channel:\{x\}'
    for each in "${nodes[@]}"; do
        assert_equal "$(redis_on "$each" PUBSUB CHANNELS)" ''
        [[ $each == "$node" ]] || assert_equal "$(redis_on "$each" PUBSUB SHARDCHANNELS)" ''
    done
    brief b
    finish a
    gone 0 b
    wait_until 2 no_shard_channels "$node"
}

@test "each kind's end is told by SPUBLISH, on the channels that Redisson's clients listen to" {
    local node channel
    node=$(home x)
    redis_on "$node" CONFIG RESETSTAT
    for channel in 'redisson_lock__channel:{x}' 'redisson_rwlock:{x}' 'redisson_sc:{x}' 'redisson_countdownlatch__channel__{x}'; do
        shard_listen "$node" "$channel"
        case $channel in
        *lock__*) rlock run -n x -- true ;;
        *rwlock*) rlock write -n x -- true ;;
        *sc*) rlock sem -n x --permits 1 -- true ;;
        *latch*) redis_on "$node" DEL x && rlock latch set -n x --count 1 && rlock latch down -n x ;;
        esac
        wait_until 2 grep -q smessage messages
    done
    assert_equal "$(calls publish "$node")" 0
    nothing_left
}

@test "a Redisson client's SPUBLISH wakes ours" {
    local node begin
    node=$(home x)
    redis_on "$node" HSET x "$foreign_owner" 1
    redis_on "$node" PEXPIRE x 60000
    brief a
    act a run
    wait_until 5 waiting "$node" x 1
    begin=$(now_ns)
    redis_on "$node" EVAL 'redis.call("DEL", KEYS[1]) return redis.call("SPUBLISH", KEYS[2], 0)' 2 \
        x 'redisson_lock__channel:{x}'
    gone 0 a
    (($(stamp a enter) - begin < 1000000000 * SLOW)) || fail "$((($(stamp a enter) - begin) / 1000000)) ms"
    nothing_left
}

@test "--wait ends: 75; SIGTERM: 143; nothing is left, nobody listens" {
    local node
    node=$(home x)
    holds a fair
    cluster left | sort >before
    took 400 1500 rlock fair -w 400ms -n x -- touch ran
    assert_failure 75
    act b fair
    wait_until 5 waiting "$node" x 1
    signal TERM b
    reap "$pid" 1
    assert_equal "$status" 143
    diff before <(cluster left | sort)
    wait_until 2 no_shard_channels "$node"
    finish a
    nothing_left
}

# --- several names, in several slots -----------------------------------------------------------

# three: as -n options, on a master each; names are they.
three() {
    read -ra names <<<"$(cluster names)"
    each=(-n "${names[0]}" -n "${names[1]}" -n "${names[2]}")
}

@test "one of them is busy: none is taken, and while it is waited for the others are free" {
    local node
    three
    node=$(home "${names[1]}")
    holds_on "${names[1]}" a run
    try run -x "${each[@]}" -- touch ran
    assert_failure 75
    assert_stderr_has "${names[1]}"
    assert_file_not_exist ran
    start run "${each[@]}" -- sh -c 'echo "$RLOCK_NAME" >ran'
    wait_until 5 waiting "$node" "${names[1]}" 1
    wait_until 2 rlock run -x -n "${names[0]}" -- true
    wait_until 2 rlock run -x -n "${names[2]}" -- true
    finish a
    reap "$pid"
    assert_equal "$status: $(cat ran)" "0: $(printf '%s\n' "${names[@]}" | LC_ALL=C sort)"
    nothing_left
}

# sections FIRST SECOND: fifteen, one after the other, of both names.
sections() {
    local n
    for n in {1..15}; do
        rlock run -q -n "$1" -n "$2" -- "$SECTION" --log history || return 1
    done
}

@test "crossed order on two masters never deadlocks, and excludes" {
    local one
    three
    sections "${names[0]}" "${names[1]}" 3>&- 4>&- &
    one=$!
    sections "${names[1]}" "${names[0]}"
    wait_until 60 ended "$one"
    wait "$one"
    check_history --min-sections 30 history
    nothing_left
}

@test "a pool of names on each master: it enters with the first that comes free, and leaves the lines of the others" {
    local name pool i=0 options=()
    for name in $(cluster names); do
        holds_on "$name" "h$i" run
        options+=(-n "$name")
        i=$((i + 1))
    done
    log=pool start run --any 1 "${options[@]}" -- sh -c 'echo "$RLOCK_NAME" >got'
    pool=$pid
    for name in $(cluster names); do
        wait_until 5 waiting "$(home "$name")" "$name" 1
    done
    finish h1
    reap "$pool" 5
    assert_equal "$status" 0
    assert_equal "$(cat got)" "$(cluster names | tr ' ' '\n' | sed -n 2p)"
    for name in $(cluster names); do
        wait_until 2 no_shard_channels "$(home "$name")"
        assert_equal "$(at "$name" EXISTS "rlock_waiters:{$name}")" 0
    done
    finish h0 h2
    nothing_left
}

@test "a pool takes another name where the master of the first one hangs" {
    local first second
    read -r first second _ <<<"$(cluster names | tr '\n' ' ')"
    rlock run --any 1 -n "$first" -n "$second" -- true # whose master is known by now
    freeze "$(home "$first")"
    took 0 4000 rlock run --any 1 --io-timeout 500ms --connect-timeout 500ms -n "$first" -n "$second" -- \
        sh -c 'echo "$RLOCK_NAME"'
    assert_success
    assert_output "$second"
    thaw "$(home "$first")"
}
