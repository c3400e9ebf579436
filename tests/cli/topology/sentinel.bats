#!/usr/bin/env bats
# sentinel.bats: sentinel://: the master is asked from any Sentinel that answers, and a hold counts with a
# replica's acknowledgement.

load ../../lib/rlock
load ../../lib/protected
load ../../lib/sentinel
load ../../lib/races

@test "every kind, in a database, from a config file, by option; the command and a nested rlock find the lock" {
    local kind url=$RLOCK_SERVER/3
    echo "server = $url" >"$RLOCK_CONFIG"
    unset RLOCK_SERVER
    for kind in run fair read write 'sem --permits 1'; do
        # shellcheck disable=SC2086
        try $kind -n "${kind%% *}" -- touch "ran-${kind%% *}"
        assert_equal "$kind: $status" "$kind: 0"
        assert_file_exist "ran-${kind%% *}"
    done
    rlock latch set -n latch --count 1
    rlock latch down -n latch
    rlock latch wait -n latch
    : >"$RLOCK_CONFIG"
    try run -s "$url" -n x -- sh -c 'echo "$RLOCK_SERVER"; rlock status -q x; echo $?; rlock run -x -n x -- sh -c "echo \$RLOCK_TOKEN"'
    assert_success
    assert_output "$url"$'\n75\n1'
    assert_equal "$(redis -n 3 MGET 'redisson_lock_token:{x}' 'redisson_lock_token:{run}' | xargs)" "1 1"
    assert_equal "$(redis -n 0 DBSIZE)" 0
}

# --- which of the Sentinels --------------------------------------------------------------------

@test "a Sentinel is behind the times: another one is asked; the only one again until it knows better" {
    local url
    url=$(sentinel_url s1)
    believes s1 one # a replica
    rlock run -q -s "$(sentinel_url s1 s2)" -n x -- true
    refuses $((500 * SLOW)) $((500 * SLOW + 2000)) 69 x "$url" -- run -q -w "$(ms 500)" -s "$url" -n x -- touch ran
    start run -q -s "$url" -n x -- "$SECTION" --log history
    wait_until 5 in_state "$pid" S
    kill -STOP "$pid" # for a moment s1 knows nobody
    believes s1 main
    kill -CONT "$pid"
    reap "$pid" 5
    assert_equal "$status: $(cat err)" "0: "
    assert_nothing_left main
}

# That Sentinels say nothing at all is in hostile.bats; what else they may say in unit/redis/test_sentinel.c.
@test "no Sentinel knows the name: 69 after --connect-timeout, and why; one that is not there, or two that hang, leave time" {
    refuses 0 $((600 * SLOW + 1900)) 69 know nobody -- \
        run -q --connect-timeout "$(ms 600)" -s "${RLOCK_SERVER%/m}/nobody" -n x -- touch ran
    ends_saying 69 'it is no Sentinel' -- run -q -s "sentinel://127.0.0.1:$(port_of main)/m" -n x -- touch ran
    rlock run -q -s "sentinel://127.0.0.1:$(free_ports 1),127.0.0.1:$(port_of s1)/m" -n x -- true
    changed
    freeze s1 s2
    rlock run -q --connect-timeout "$(ms 800)" -s "$(sentinel_url s1 s2 s3)" -n x -- true
}

# --- replicas ----------------------------------------------------------------------------------

# Either could become the master: who does not have the lock must not.
@test "one of two replicas is silent: 69, that it was for that, and nothing is left; --replicas 0 asks neither" {
    local silent
    changed
    for silent in one two; do
        freeze "$silent"
        # Before the Sentinels miss it, however slow the build.
        refuses 600 2000 69 x "$RLOCK_SERVER" replica -- run -q -w 600ms --replica-timeout 200ms -n x -- touch ran
        assert_nothing_left main
        redis CONFIG RESETSTAT
        rlock run --replicas 0 -n x -- true
        assert_equal "$(calls wait)" 0
        thaw "$silent"
        wait_until 10 topology_ready
    done
}

@test "one of two replicas is stopped: the other will do when the Sentinels have missed it; none has to when they miss both" {
    changed
    redis_on s2 SENTINEL SET m down-after-milliseconds 1000 # as s1: all of them must have
    redis_on s3 SENTINEL SET m down-after-milliseconds 1000
    protected -l "$(ms 6000)" --replica-timeout "$(ms 100)"
    server_stop two
    took 0 3500 rlock run -n y -- true
    assert_success
    assert_kept 2500
    server_stop one
    took 0 3500 rlock run -n y -- true
    assert_success
}

unsynced() { # REPLICA: each Sentinel says that it is
    local name
    for name in s1 s2 s3; do
        redis_on "$name" SENTINEL REPLICAS m | grep -A 60 "^127.0.0.1:$(port_of "$1")\$" |
            grep -A 1 -m 1 '^slave-repl-offset$' | grep -qx 1 || return 1
    done
}

@test "a replica that waits for its data holds nobody up; when it follows, it counts" {
    changed
    redis CONFIG SET repl-diskless-sync-delay 60
    server_stop two
    rm "$BATS_FILE_TMPDIR/two/dump.rdb"
    data_server two --replicaof 127.0.0.1 "$(port_of main)"
    wait_until 20 unsynced two
    took 0 900 rlock run -x -n x -- true
    assert_success
    redis CONFIG SET repl-diskless-sync-delay 0
    wait_until 20 topology_ready
    freeze two
    ends_saying 69 replica -- run -q -x --replica-timeout "$(ms 200)" -n x -- touch ran
}

@test "a replica that is never promoted may be silent" {
    changed
    never_promoted
    freeze two
    took 0 900 rlock run -n x -- true
    assert_success
    freeze one
    ends_saying 69 replica -- run -q -x --replica-timeout "$(ms 200)" -n x -- touch ran
}

@test "no Sentinel answers while it runs: renewed on the master that a replica still confirms" {
    changed
    protected -l "$(ms 1200)"
    freeze s1 s2 s3
    assert_kept 3000
    assert_nothing_left main
}

@test "keepers and a client's other locks share nothing unguarded" {
    assert_no_races "$RLOCK_SERVER" main
}
