#!/usr/bin/env bats
# cluster_wait.bats: waiting in a cluster: woken by message on the shard's channels, several names
# across slots, and what a waiter leaves behind.

load ../../lib/rlock
load ../../lib/cluster

# hands_over NAME HOLDER WAITER...: kinds; those who wait are woken by the end of the other's hold.
hands_over() {
    local name=$1 holder=$2 n=0 waiter who=()
    rm -f history end-a
    holds_on "$name" a "$holder"
    for waiter in "${@:3}"; do
        who+=("b$((n += 1))")
        brief "b$n"
        act_on "$name" "b$n" "$waiter"
    done
    wait_until 5 waiting "$(home "$name")" "$name" "$n"
    finish a
    gone 0 "${who[@]}"
    assert_gap a b1 1500
    at "$name" DEL "$name" >/dev/null # a semaphore's number
}

@test "each kind is handed over by message, and on each master; a latch that opens lets all in" {
    local name
    for name in $(cluster names); do
        hands_over "$name" run run
        rlock latch set -n "$name" --count 1
        hands_over "$name" 'latch down' 'latch wait' 'latch wait' 'latch wait'
    done
    hands_over "$name" write read
    hands_over "$name" read write
    hands_over "$name" fair fair
    hands_over "$name" run fair
    hands_over "$name" 'sem --permits 1' 'sem --permits 1'
    at "$name" SET "$name" 1 >/dev/null
    hands_over "$name" 'sem --plain' 'sem --plain'
    nothing_left
}

# Redisson: its channel has braces of its own around the name's.
@test "a latch whose name has braces: its channel is in another slot, and heard all the same" {
    local begin
    rlock latch set -n 'a{b}c' --count 1
    start latch wait -n 'a{b}c' -- true
    wait_until 5 eval '[[ -n $(at "a{b}c" PUBSUB CHANNELS "*countdownlatch*") ]]'
    begin=$(now_ms)
    rlock latch down -n 'a{b}c'
    reaps 0 "$pid"
    (($(now_ms) - begin < 1000 * SLOW)) || fail "opened $(($(now_ms) - begin)) ms later"
    nothing_left
}

@test "waiters listen on shard channels, on their slot's master, and nowhere else; who leaves leaves nothing" {
    local node each
    node=$(home x)
    holds a fair
    cluster left | sort >before
    took 400 1500 rlock fair -w 400ms -n x -- true
    assert_failure 75
    act b fair
    wait_until 5 waiting "$node" x 1
    assert_regex "$(redis_on "$node" PUBSUB SHARDCHANNELS)" 'redisson_lock__channel:\{x\}'
    for each in "${nodes[@]}"; do
        assert_equal "$(redis_on "$each" PUBSUB CHANNELS 'redisson*')" '' # the holder may listen for a break
        [[ $each == "$node" ]] || assert_equal "$(redis_on "$each" PUBSUB SHARDCHANNELS)" ''
    done
    signal TERM b
    gone 143 b
    diff before <(cluster left | sort)
    wait_until 2 no_shard_channels
    finish a
    nothing_left
}

no_shard_channels() {
    [[ -z $(redis_on "$node" PUBSUB SHARDCHANNELS)$(redis_on "$node" PUBSUB CHANNELS 'redisson*') ]]
}

@test "each kind's end is told by SPUBLISH, on the channels that Redisson's clients listen to; theirs wakes ours" {
    local node channel begin
    node=$(home x)
    redis_on "$node" CONFIG RESETSTAT
    for channel in 'redisson_lock__channel:{x}' 'redisson_rwlock:{x}' 'redisson_sc:{x}' 'redisson_countdownlatch__channel__{x}'; do
        helper redis-cli -s "$BATS_FILE_TMPDIR/$node/sock" SSUBSCRIBE "$channel" >messages
        wait_until 5 grep -qx 1 messages
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
    redis_on "$node" HSET x "$foreign_owner" 1
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

# --- a pool of names, in several slots ----------------------------------------------------------

@test "a pool of names on each master: it enters with the first that comes free, and leaves the lines of the others" {
    local name node names options=()
    read -ra names <<<"$(cluster names)"
    for name in "${names[@]}"; do
        holds_on "$name" "$name" run
        options+=(-n "$name")
    done
    start run --any 1 "${options[@]}" -- sh -c 'echo "$RLOCK_NAME" >got'
    for name in "${names[@]}"; do
        wait_until 5 waiting "$(home "$name")" "$name" 1
    done
    finish "${names[1]}"
    reap "$pid" 5
    assert_equal "$status: $(cat got)" "0: ${names[1]}"
    for name in "${names[@]}"; do
        node=$(home "$name")
        wait_until 2 no_shard_channels
        assert_equal "$(at "$name" EXISTS "rlock_waiters:{$name}")" 0
    done
    finish "${names[0]}" "${names[2]}"
    nothing_left
}

@test "who waits for names on several masters sleeps, and leaves the free ones alone" {
    local held node names scripts how words
    read -ra names <<<"$(cluster names)"
    for held in "${names[@]:1}"; do
        holds_on "$held" "$held" run
    done
    for how in "run -n ${names[0]}" 'run --any 1' fair; do
        for node in "${nodes[@]}"; do
            redis_on "$node" CONFIG RESETSTAT
        done
        read -ra words <<<"$how"
        took 1900 4000 rlock "${words[@]}" -q -w 2s -n "${names[1]}" -n "${names[2]}" -- true
        assert_failure 75
        scripts=0
        for node in "${nodes[@]}"; do
            scripts=$((scripts + $(calls evalsha "$node")))
        done
        ((scripts <= 30)) || fail "$how: $scripts scripts in two seconds"
    done
    finish "${names[1]}"
    finish "${names[2]}"
    nothing_left
}

hears_of_breaks() { # a pool's holder does, on whatever node
    local node
    for node in "${nodes[@]}"; do
        [[ -z $(redis_on "$node" PUBSUB CHANNELS 'rlock_break:*') ]] || return 0
    done
    return 1
}

@test "a pool's holder hears of a break, and says that it has stopped, where the master of a name that it has not hangs" {
    local first second
    read -r first second _ <<<"$(cluster names | tr ' ' '\n' | sort | tr '\n' ' ')"
    at "$first" HSET "$first" "$foreign_owner" 1
    start run --any 1 -l 60s -n "$first" -n "$second" -- sh -c 'echo "$RLOCK_NAME" >got; exec sleep 60'
    wait_until 10 hears_of_breaks
    assert_equal "$(cat got)" "$second"
    RLOCK_SERVER=$(cluster_url "$(home "$second")")
    freeze "$(home "$first")"
    took 0 5000 rlock break --force "$second"
    assert_stderr_has 'says that its command has stopped, '
    reaps 76 "$pid"
}

@test "a pool takes another name where the master of the first one hangs, within a wait shorter than --io-timeout too" {
    local first second node
    read -r first second _ <<<"$(cluster names | tr '\n' ' ')"
    for node in "${nodes[@]}"; do redis_on "$node" CONFIG SET cluster-require-full-coverage no; done
    rlock run --any 1 -n "$first" -n "$second" -- true # whose master is known by now
    node=$(home "$first")
    freeze "$node" "$(replica_of "$node")"
    took 0 4000 rlock run --any 1 --io-timeout 500ms --connect-timeout 500ms -n "$first" -n "$second" -- \
        sh -c 'echo "$RLOCK_NAME"'
    assert_success
    assert_output "$second"
    assert_equal "$stderr" '' # nothing of the other name, which it never had
    try run --any 1 -q -w 3s -n "$first" -n "$second" -- sh -c 'echo "$RLOCK_NAME"'
    assert_success
    assert_output "$second"
}
