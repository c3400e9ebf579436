#!/usr/bin/env bats
# holds.bats: each kind of lock, and what may befall a hold of it. All of them at once, each under its kind's name.

load ../../lib/rlock
load ../../lib/kinds

all_are_dead() {
    run grep -l 'exit=[0-9]' "${kinds[@]}"
    assert_output ""
}

kept_out() { # KIND [OPTION...]
    # shellcheck disable=SC2086
    try ${rival[$1]} -x -n "$@" -- touch ran
    assert_equal "$1: $status" "$1: 75"
    assert_file_not_exist ran
}

# lease_end KIND: when what it has ends, in ns on CLOCK_MONOTONIC.
lease_end() {
    [[ $1 == sem ]] || { expiry "$1"; return; }
    python3 -c 'import sys, time
print(int(float(sys.argv[1])) * 1000000 + max(time.monotonic_ns() - time.time_ns() for _ in range(9)))' \
        "$(redis ZRANGE '{sem}:timeout' 0 0 WITHSCORES | tail -n 1)"
}

# --- in Redis ------------------------------------------------------------------------------------

# in_braces: each kind's lock {a}b, which is its own hash tag, while a command runs: what that is told goes to the file
# told, and its keys with their times to live to keys.
in_braces() { # KIND
    # shellcheck disable=SC2086
    rlock ${how[$1]} -n '{a}b' -- sh -c 'echo "$RLOCK_NAME $RLOCK_KIND $RLOCK_TOKEN" >told
        redis-cli -s "$0" --scan | while read -r key; do echo "$key $(redis-cli -s "$0" PTTL "$key")"; done >keys' "$direct"
}

@test "the command is told name, kind and a token that grows; two requests a run; each key in its slot and with an end" {
    local kind key ttl
    for kind in "${kinds[@]}"; do
        redis FLUSHALL
        in_braces "$kind" # the server knows the scripts now
        monitor in_braces "$kind"
        cat monitor.txt # for who looks at a failure
        assert_equal "$(cat told)" "{a}b ${kind/plain/sem} 2"
        assert_equal "$kind: $(grep -c '"EVALSHA"' monitor.txt)" "$kind: 2"
        run grep -v -i -E '"(EVALSHA|HELLO|AUTH|SELECT|CLIENT|SCAN|PTTL|COMMAND)"' monitor.txt
        assert_output ""
        while read -r key ttl; do
            case "$kind $key" in
                *' redisson_lock_token:{a}b' | 'sem {a}b' | 'sem {a}b:timeout' | 'plain {a}b') assert_equal "$key $ttl" "$key -1" ;;
                *' {a}b' | *':{a}b' | *' {a}b:'*) ((ttl > 0)) || fail "$kind: $key has no end" ;;
                *) fail "$kind: $key is in another slot" ;;
            esac
        done <keys
    done
}

# --- in time ---------------------------------------------------------------------------------------

@test "it is renewed for several times its lease, out of memory as well, keeps others out, and is given back" {
    local kind end
    server_start full
    RLOCK_SERVER=$(server_url full) kinds=("${leased[@]}")
    all_hold -l "$(ms 900)"
    redis_on full CONFIG SET maxmemory 1
    end=$(($(now_ns) + 2700 * SLOW * 1000000))
    while (($(now_ns) < end)); do
        for kind in "${kinds[@]}"; do
            kept_out "$kind"
        done
    done
    all_end 5
    all_are_free full
}

@test "--min-hold: rlock exits with the command, the lock is kept until then, and who waits enters at its end" {
    local kind late
    local -A begun
    kinds=("${leased[@]}")
    for kind in "${kinds[@]}"; do
        begun[$kind]=$(now_ns)
        # shellcheck disable=SC2086
        took 0 700 rlock ${how[$kind]} -n "$kind" --min-hold "$(ms 2000)" -- sh -c 'exit 3'
        assert_equal "$kind: $status" "$kind: 3"
        kept_out "$kind"
        [[ $kind != read ]] || rlock read -x -n read -- true
        next "$kind"
    done
    : >over
    each_ends 5 next
    for kind in "${kinds[@]}"; do
        late=$((($(entered "next-$kind") - begun[$kind]) / 1000000 - 2000 * SLOW))
        ((late >= 0 && late < 800 * SLOW)) || fail "$kind: $late ms after the time"
    done
    all_are_free
}

# --- lost ------------------------------------------------------------------------------------------

@test "SIGKILL of rlock: its command is dead, and who waits enters at the end of the lease" {
    local kind late
    local -A end
    kinds=("${leased[@]}")
    all_hold -l "$(ms 3000)"
    for kind in "${kinds[@]}"; do
        next "$kind"
        wait_until 5 waited_for "$kind"
    done
    for kind in "${kinds[@]}"; do
        kill -KILL "${rlock_of[$kind]}"
        end[$kind]=$(lease_end "$kind")
    done
    : >over
    beside_begin
    each_ends 5 next
    beside_end
    for kind in "${kinds[@]}"; do
        (($(beat "$kind.beat") < $(entered "next-$kind"))) || fail "$kind: broken promise: the command was alive"
        late=$((($(entered "next-$kind") - end[$kind]) / 1000000))
        ((late >= -2 && late < 1000 * SLOW + added)) || fail "$kind: $late ms after the lease's end"
    done
    all_are_free
}

@test "76: its data is lost, or somebody else has it: the command is stopped at the next renewal, and nothing is written" {
    local now theirs
    kinds=("${leased[@]}")
    for now in true foreign_all; do
        all_hold -l "$(ms 3000)"
        redis FLUSHALL
        $now
        theirs=$(redis EVAL "$dump_all" 0)
        within $((2000 * SLOW)) all_end 76
        all_are_dead
        assert_equal "$now: $(redis EVAL "$dump_all" 0)" "$now: $theirs"
        rm "${kinds[@]}"
    done
}

dump_all='local keys, all = redis.call("KEYS", "*"), ""
    table.sort(keys)
    for _, key in ipairs(keys) do all = all .. key .. " " .. redis.sha1hex(redis.call("DUMP", key)) .. " " end
    return all'

@test "76: it was found gone when it was given back, though renewals were fine" {
    all_hold -l 30s
    redis FLUSHALL
    : >over
    all_end 76
    assert_no_keys
}

@test "76: the server answers no more: the command is dead before the lease's end, and who waits enters after it" {
    local kind
    kinds=("${leased[@]}")
    proxy_start
    all_hold -l "$(ms 1500)" --io-timeout "$(ms 300)"
    proxy hang
    RLOCK_SERVER=$(server_url main)
    for kind in "${kinds[@]}"; do
        next "$kind"
    done
    all_end 76
    all_are_dead
    : >over
    each_ends 5 next
    for kind in "${kinds[@]}"; do
        (($(beat "$kind.beat") < $(entered "next-$kind"))) || fail "$kind: broken promise: the command was alive"
    done
    all_are_free
}
