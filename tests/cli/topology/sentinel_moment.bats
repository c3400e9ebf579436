#!/usr/bin/env bats
# sentinel_moment.bats: one asks for a lock at each tenth of a second around a failover, planned or after a
# crash, with one replica, two and three: never are two within, and no token comes twice. Crashes with two are in
# sentinel_failover.bats.
#
# A Sentinel promotes a replica about a second before it says so. Who asks the old master meanwhile must
# not be content with the word of another replica.

load ../../lib/rlock
load ../../lib/sentinel

setup_file() { build_section; }

# Each test has a topology of its own: see moments.
setup() { trace_tests_only; }

teardown() {
    rlock_teardown
    topology_stop
}

MOMENTS=24

# around WHEN COMMAND...: a first comes for each of the locks m0, m1, ... a tenth of a second after the one
# before, the command at the WHEN-th; and when all Sentinels name a new master, a second for each.
around() {
    local when=$1 n begin urls
    shift
    urls=("$(sentinel_url s1 s2 s3)" "$(sentinel_url s2 s3 s1)" "$(sentinel_url s3 s1 s2)")
    begin=$(now_ms)
    for ((n = 0; n < MOMENTS; n++)); do
        wait_until 10 is_later $((begin + n * 100 * SLOW))
        ((n != when)) || "$@"
        RLOCK_SERVER=${urls[n % 3]} section_of "m$n" first "--ms 2500" -w 30s -l 6s
        pids+=("$pid")
    done
    wait_until 20 "${over[@]}"
    for ((n = 0; n < MOMENTS; n++)); do
        RLOCK_SERVER=${urls[n % 3]} section_of "m$n" second "--ms 1" -w 30s -l 6s
        pids+=("$pid")
        locks+=("m$n")
    done
}

# Whoever lost its lock has stopped, and all others were within.
judge() {
    local pid kept=0
    for pid in "${pids[@]}"; do
        reap "$pid" 40
        [[ $status == 0 || $status == 76 ]] || fail "status $status: $(cat ./*.err)"
        kept=$((kept + (status == 0)))
    done
    check_history --min-sections 2 "${locks[@]}" || fail "$(cat "${locks[@]}" ./*.err)"
    ((kept >= MOMENTS)) || fail "only $kept were undisturbed"
}

# moments COPIES WHEN COMMAND...: after those of prepare.
prepare=()
moments() {
    local pids=() locks=() when=$2 over=(is_replaced)
    [[ $3 != order_failover ]] || over=(planned is_replaced)
    read -ra copies <<<"$1"
    topology_start
    rlock_setup
    "${prepare[@]}"
    around "$when" "${@:3}"
    judge
}

@test "planned, one replica" {
    moments one 3 order_failover
}

# As Sentinels are everywhere: who asks another one than the first hears of it up to two seconds later.
@test "planned, two replicas, and Sentinels at their usual pace" {
    MOMENTS=45
    prepare=(pace 10000 2000 1000)
    moments 'one two' 3 order_failover
}

@test "planned, three replicas" {
    moments 'one two three' 3 order_failover
}

@test "crash, one replica" {
    moments one 8 server_stop main
}

# WAIT counts it like the others.
@test "planned, one replica and one that is never promoted" {
    prepare=(never_promoted)
    moments 'one two' 3 order_failover
}
