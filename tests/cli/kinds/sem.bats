#!/usr/bin/env bats
# sem.bats: how many permits may be held, how all agree on their number, --plain, and waiting: who wakes and when. How a
# wait ends: waits.bats; each kind: holds.bats, promise/lost_replies.bats; the keys and messages, Redisson's permits:
# tools/scripts.

load ../../lib/rlock
load ../../lib/sem

# assert_refused WORD... -- ARG...: 64, one line that has x and each WORD, and the key x is what it was.
assert_refused() {
    local before
    before=$(redis DUMP x | base64)
    ends_saying 64 x "$@"
    assert_equal "$(redis DUMP x | base64)" "$before"
}

# --- how many --------------------------------------------------------------------------------------

@test "--take: all of them or none" {
    holds a sem --permits 3 --take 2
    assert_permits 1 2
    ends_saying 75 x -- sem -n x --take 2 -x -- touch ran
    ends_saying 75 x -- sem -n x --take 3 -x -- touch ran
    assert_permits 1 2
    try sem -n x --take 1 -x -- true
    assert_success
    finish a
    try sem -n x --take 3 -x -- redis-cli -s "${RLOCK_SERVER#unix://}" GET x
    assert_output 0
    assert_at_rest 3
}

@test "nested: a further permit with a token of its own, and each end gives back its own" {
    try sem -n x --permits 2 -- sh -c 'echo "$RLOCK_TOKEN"
        rlock sem -x -n x -- sh -c "echo \$RLOCK_TOKEN; redis-cli -s $0 GET x"
        redis-cli -s "$0" GET x' "${RLOCK_SERVER#unix://}"
    assert_success
    assert_output $'1\n2\n0\n1'
    ends_saying 75 x -- sem -n x --permits 2 --take 2 -- rlock sem -x -n x -- touch ran
    assert_at_rest 2
}

# --- all agree on N ----------------------------------------------------------------------------------

@test "64: another number of permits, or more than there are: both numbers named, nothing changed" {
    assert_usage --take 64 65 -- sem -n x --permits 64 --take 65 -- touch ran
    assert_usage --take 10000 -- sem -n x --permits 20000 --take 10001 -- touch ran
    rlock sem -n x --permits 3 -- true
    assert_refused 3 4 -- sem -n x --permits 4 -- touch ran
    assert_refused 3 2 -- sem --plain -n x --permits 2 -x -- touch ran
    holds a sem --permits 3 --take 2
    assert_refused 3 2 -- sem -n x --permits 2 -- touch ran
    assert_refused 3 1 -- sem -n x --permits 1 -w 5s -- touch ran
    assert_refused 3 4 -- sem -n x --take 4 -w 5s -- touch ran
    finish a
    assert_at_rest 3
    redis FLUSHALL >/dev/null
    rlock sem -n x --permits 1 -- true
    assert_refused 'it has 1 permit, not 2: ' -- sem -n x --permits 2 -- touch ran
}

@test "--permits may be left out where the semaphore exists; else 64, and what to do is said" {
    assert_refused --permits -- sem -n x -w 5s -- touch ran
    assert_refused --permits -- sem --plain -n x -w 5s -- touch ran
    assert_no_keys
    rlock sem -n x --permits 2 -- true
    try sem -n x -x --take 2 -- echo ran
    assert_equal "$status $output" "0 ran"
}

@test "--resize: the new number is the one that all agree on; permits that are held stay so" {
    local handle
    handle=$(rlock acquire sem -n x --permits 2 -l 1h)
    try sem -n x --resize 5
    assert_equal "$status $output$stderr" "0 "
    assert_equal "$(redis GET x)" 4
    rlock release "$handle" # though its process has ended
    assert_at_rest 5
    assert_refused 5 2 -- sem -n x --permits 2 -- touch ran
}

@test "--resize counts plain permits in use" {
    holds a sem --plain --permits 2
    holds b sem --plain --permits 2
    rlock sem -n x --resize 2
    assert_equal "$(redis GET x)" 0
    rlock sem -n x --resize 3
    assert_equal "$(redis GET x)" 1
    finish a b
    assert_equal "$(redis GET x)" 3
}

# --- holders that die or lose one ----------------------------------------------------------------------

@test "what is said of holders is said of the living" {
    holds dead sem --permits 2 -l "$(ms 500)"
    holds alive sem
    signal KILL dead
    wait_until 5 rlock sem -x -q -n x -- true
    try sem -x -n x --take 2 -- touch ran
    assert_failure 75
    assert_stderr_has "pid ${pid_of[alive]}"
    finish alive
    assert_at_rest 2
}

@test "76: one of two permits is taken away: the other comes back, and that one not a second time" {
    holds a sem --permits 2 --take 2 -l "$(ms 900)"
    # By somebody who does not ask whose it is.
    redis EVAL 'redis.call("ZPOPMIN", KEYS[2]) return redis.call("INCR", KEYS[1])' 2 x '{x}:timeout'
    gone 76 a
    assert_at_rest 2
}

# --- plain -------------------------------------------------------------------------------------------

@test "--plain: where nobody confirms that they were given back, what that means is said" {
    server_start lone
    try sem --plain --permits 2 -s "$(server_url lone)" --io-timeout "$(ms 300)" -n x -- \
        sh -c "redis-cli -s $BATS_FILE_TMPDIR/lone/sock SHUTDOWN NOSAVE || :"
    assert_success
    assert_message
    assert_stderr_has 'cannot confirm that x' "if not, its permits stay taken: see 'rlock break'"
    server_stop lone
}

@test "--plain, and a latch: without a lease, the min-hold of a config file is nothing to them" {
    echo 'min-hold = 1h' >"$RLOCK_CONFIG"
    try sem --plain --permits 1 -n x -- true
    assert_equal "$status: $stderr" '0: '
    assert_at_rest 1
    try latch wait -n y -- true
    assert_success
    refute_regex "$stderr" 'given back'
}

@test "--plain: a killed holder's permits stay taken, also at --resize, until they are broken" {
    local owner
    holds a sem --plain --permits 2 -l 100ms
    signal KILL a
    gone 137 a
    try sem --plain -n x --take 2 -w 600ms -- touch ran
    assert_failure 75
    rlock sem -n x --resize 3
    assert_equal "$(redis GET x)" 2
    owner=$(redis HKEYS 'rlock_info:{x}')
    rlock break x --force --wait 0 --owner "$owner"
    assert_equal "$(redis GET x)" 3
}

# --- waiting ----------------------------------------------------------------------------------------

# soon WHO: it enters within a second, and ends well.
soon() {
    wait_until 1 entered_section "$1"
    finish "$1"
}

@test "a small request passes a big one that does not fit" {
    holds a sem --permits 3 --take 2
    waits big --take 2
    try sem -n x -x -- true
    assert_success
    holds b sem
    waits small
    finish b
    soon small
    refute_entered big
    finish a
    soon big
    assert_at_rest 3
}

@test "--resize up, and no answer to the first that wakes: it came with the old number, and waits on" {
    local direct=$RLOCK_SERVER
    holds a sem --permits 2 --take 2
    proxy_start
    waits b --permits 2
    proxy refuse-request evalsha 1 1 LOADING the data
    rlock sem -n x --resize 3 -s "$direct"
    soon b
    grep -q '^refused ' proxy.log
    finish a b
    assert_at_rest 3
}

@test "--resize up: waiters enter at once, whatever number they came with" {
    holds a sem --permits 1
    waits with-old --permits 1
    waits without
    rlock sem -n x --resize 3
    soon without
    soon with-old
    finish a
    assert_at_rest 3
}

@test "--plain: a release wakes those whose request fits, and a Redisson client's release does" {
    redis SET x 3
    holds a sem --plain --permits 3
    redis DECRBY x 2 # two that a Redisson client has
    waits two --plain --take 2
    waits one --plain
    finish a
    soon one
    refute_entered two
    redis EVAL 'return redis.call("PUBLISH", KEYS[2], redis.call("INCRBY", KEYS[1], 2))' 2 x "$sem_channel"
    soon two
    assert_at_rest 3
}

@test "30 permits come back at once: 30 waiters have them within a moment" {
    local n
    holds a sem --permits 30 --take 30
    for n in {1..30}; do
        act "$n" sem -q
    done
    wait_until 20 in_line x 30
    finish a
    wait_until 2 entries 31
    finish {1..30}
    assert_at_rest 30
}
