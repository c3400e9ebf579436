#!/usr/bin/env bats
# sentinel.bats: sentinel://: the master is asked from any Sentinel that answers, and a hold counts with a
# replica's acknowledgement.

load ../../lib/rlock
load ../../lib/protected
load ../../lib/sentinel
load ../../lib/races

# dead_port: nobody listens there.
dead_port() {
    echo "127.0.0.1:$(free_ports 1)"
}

@test "takes on the master, a replica has it before the command starts; given back" {
    try run -n x -- sh -c 'for one in main one two; do redis-cli -s "$0/$one/sock" HVALS x; done' "$BATS_FILE_TMPDIR"
    assert_success
    assert_output --regexp $'1\n1' # one of the two is enough
    assert_equal "$stderr" ""
    assert_equal "$(redis GET 'redisson_lock_token:{x}')" 1
    assert_nothing_left main
}

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

@test "the default ports; without a replica none is asked for" {
    net_server net
    mkdir -p "$BATS_FILE_TMPDIR/lone"
    printf '%s\n' 'bind 127.0.0.1' 'port 26379' 'sentinel monitor m 127.0.0.1 6379 1' >"$BATS_FILE_TMPDIR/lone/sentinel.conf"
    launcher=(nsenter -t "$(server_pid net)" -n)
    sentinel_start lone
    launcher=()
    run --separate-stderr in_net net timeout 30 "$RLOCK" run -s sentinel://127.0.0.1/m -n x -- true
    assert_equal "$status: $stderr" "0: "
    assert_equal "$(redis_on net GET 'redisson_lock_token:{x}')" 1
    run --separate-stderr in_net net timeout 30 "$RLOCK" run -q -x -s sentinel://127.0.0.1/m --replicas 1 -n x -- true
    assert_failure 69
}

# --- which of the Sentinels --------------------------------------------------------------------

@test "one Sentinel that knows is enough, whatever the ones before it are" {
    local first
    changed
    freeze s1
    redis_on s3 SENTINEL REMOVE m # not there, no address, no Sentinel at all, no answer, without the name
    for first in "$(dead_port),$(dead_port)" nowhere.invalid:26379 "127.0.0.1:$(port_of two)" "127.0.0.1:$(port_of s1)" \
        "127.0.0.1:$(port_of s3)"; do
        took 0 4000 rlock run -q --connect-timeout "$(ms 3000)" -s "sentinel://$first,127.0.0.1:$(port_of s2)/m" -n x -- true
        assert_equal "$first: $status: $stderr" "$first: 0: "
    done
    thaw s1
    believes s1 one # behind the times: a replica
    try run -q -s "$(sentinel_url s1 s2)" -n x -- sh -c 'echo "$RLOCK_TOKEN"'
    assert_output 6
}

@test "the only Sentinel is behind the times: asked again until it knows better" {
    local url
    url=$(sentinel_url s1)
    believes s1 one
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

# That Sentinels say nothing at all is in hostile.bats.
@test "no Sentinel is there, or knows the name: 69 after --connect-timeout, and why; two that hang leave time for the third" {
    local url
    url=sentinel://$(dead_port),$(dead_port)/m
    refuses $((400 * SLOW)) $((400 * SLOW + 1600)) 69 x "$url" -- \
        run -q --connect-timeout "$(ms 400)" -s "$url" -n x -- touch ran
    refuses 0 $((600 * SLOW + 1900)) 69 know nobody -- \
        run -q --connect-timeout "$(ms 600)" -s "${RLOCK_SERVER%/m}/nobody" -n x -- touch ran
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

@test "one of two replicas is stopped: the other will do when the Sentinels have missed it" {
    changed
    redis_on s2 SENTINEL SET m down-after-milliseconds 1000 # as s1: all of them must have
    redis_on s3 SENTINEL SET m down-after-milliseconds 1000
    protected -l "$(ms 6000)" --replica-timeout "$(ms 100)"
    server_stop two
    took 0 3500 rlock run -n y -- true
    assert_success
    assert_kept 2500
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

# Which followers count: unit/redis/test_replicas.c. A Sentinel promotes one about a second before it says so.
@test "a replica has just been promoted, and nobody has said so: nothing counts, whatever the other one says" {
    local n
    changed
    pace 10000 2000 1000
    printf '%s\n' MULTI 'REPLICAOF NO ONE' 'CLIENT KILL TYPE normal' 'CLIENT KILL TYPE pubsub' EXEC | redis_on one
    has_role one master
    for n in 1 2 3; do
        ends_saying 69 x -- run -q -x --replica-timeout "$(ms 100)" -n x -- touch ran
        assert_equal "$(named_by s1)" main
    done
}

@test "a replica is added: it must have what is written from then on, also by who holds" {
    local name
    changed
    for name in s1 s2 s3; do # none sees within this test that it is down
        redis_on "$name" SENTINEL SET m down-after-milliseconds 60000
    done
    protected -l $((1800 + 600 * SLOW))ms --replica-timeout "$(ms 200)" # over before three has been silent for 5 s
    data_server three --replicaof 127.0.0.1 "$(port_of main)"
    wait_until 10 streams_to main 3
    assert_equal "$(redis_on three EXISTS x)" 1
    freeze three
    assert_lost
}

# Where the majority of the Sentinels says that they are down, nobody can take over behind our back.
@test "both replicas are down, and the Sentinels say so: no acknowledgement is asked for" {
    changed
    freeze one two
    wait_until 20 both_down_everywhere
    took 0 $((2500 * SLOW + 500)) rlock run -w "$(ms 2500)" -n x -- true
    assert_success
}

both_down_everywhere() {
    local name
    for name in s1 s2 s3; do
        (($(redis_on "$name" SENTINEL REPLICAS m | grep -c s_down) == 2)) || return 1
    done
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
