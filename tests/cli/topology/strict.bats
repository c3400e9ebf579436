#!/usr/bin/env bats
# strict.bats: a server as some hosts have it: without WAIT, CONFIG and CLIENT, without scripts that have no
# key, and with declared keys only. All kinds of locks work there.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/status

kinds=(run fair read write 'sem --permits 1' 'sem --plain --permits 1')

setup() {
    rlock_setup
    strict_start
}

# "SCRIPT KEY" that is touched and not declared, by scripts that say so: the leases of Redisson's readers, whom nobody
# knows before.
redissons='(read_acquire|write_acquire|rw_release|rw_renew|rw_restore|inspect|rw_break) \{x\}:11111111-[^ ]*:rwlock_timeout:1'

teardown() {
    local undeclared
    rlock_teardown
    undeclared=$(cut -d ' ' -f 1,2,4 strict.log | sort -u |
        grep -vxE "allowed $redissons" || true)
    [[ -z $undeclared ]] || fail "touched, and not declared: $undeclared"
}

# So many wait for x, of whatever kind.
stand() { # N
    (($(redis PUBSUB CHANNELS '*{x}:*' | grep -c .) == $1))
}

# begin KIND: nothing is there; take is how it is taken, rival how it is by another one that it excludes.
begin() {
    rm -f end-* history
    redis FLUSHALL >/dev/null
    read -ra take <<<"$1"
    read -ra rival <<<"${1/#read/write}"
}

# Of a semaphore its number stays.
assert_free() {
    [[ ${take[0]} != sem ]] || redis DEL x >/dev/null
    assert_no_keys
}

@test "each kind is taken, renewed, and given back" {
    local i
    for i in "${!kinds[@]}"; do
        # shellcheck disable=SC2086 # a kind and its options
        log=$i start ${kinds[i]} -n "x$i" -l "$(ms 1500)" -- sleep "$SLOW"
        pid_of["$i"]=$pid
    done
    for i in "${!kinds[@]}"; do
        reap "${pid_of[$i]}"
        assert_equal "${kinds[i]}: $status: $(cat "$i.err")" "${kinds[i]}: 0: "
    done
    redis DEL x4 x5 >/dev/null # semaphores' numbers
    assert_no_keys
}

@test "each kind is waited for, by several, left, and handed over; what the dead have left is taken" {
    local kind who
    for kind in "${kinds[@]}"; do
        begin "$kind"
        holds first "${take[@]}" -l "$(ms 1500)"
        for who in second third fourth; do
            act "$who" "${rival[@]}" -q
        done
        wait_until 5 stand 3
        signal TERM third
        gone 143 third
        finish first second fourth
        assert_equal "$kind: $(cat first.err second.err fourth.err)" "$kind: "
        assert_free
        [[ $kind != *--plain* ]] || continue # the dead one's permits are lost
        holds dead "${take[@]}" -l "$(ms 1000)"
        brief next
        act next "${rival[@]}" -q
        wait_until 5 stand 1
        signal KILL dead
        gone 137 dead
        gone 0 next
        assert_free
    done
}

@test "many readers, and a writer behind them" {
    local who readers=(r1 r2 r3 r4 r5 r6)
    for who in "${readers[@]}"; do
        holds "$who" read -l "$(ms 1500)"
    done
    act writer write -q -l "$(ms 1500)"
    wait_until 5 stand 1
    act late read -q
    wait_until 5 stand 2
    finish "${readers[@]}" writer late
    assert_no_keys
}

@test "many readers whose leases last longer: one with a shorter lease nests, and writes inside are refused; break" {
    local i
    for i in {1..17}; do
        rlock acquire read -n x -l 60s >/dev/null
    done
    try read -n x -l 10s -- sh -c 'rlock read -n x -- true && rlock check && rlock write -n x -- true'
    assert_equal "$status" 64
    assert_stderr_has reading
    rlock break --force x
    assert_no_keys
}

@test "semaphores: several permits, some taken, others waited for, and resized" {
    holds a sem --permits 5 --take 2 -l "$(ms 1500)"
    holds b sem --permits 5 --take 2 -l "$(ms 1500)"
    try sem -x --permits 5 --take 2 -n x -- true
    assert_failure 75
    act c sem --permits 5 --take 2 -q
    wait_until 5 stand 1
    finish a b c
    rlock sem -n x --resize 7
    assert_equal "$(redis GETDEL x)" 7
    assert_no_keys
}

@test "each kind, nested, by a handle, with --min-hold; what is seen of it, and broken" {
    local kind handle
    for kind in "${kinds[@]}"; do
        begin "$kind"
        if [[ $kind != sem* ]]; then
            try "$kind" -n x -- sh -c "rlock $kind -n x -- rlock $kind -x -n x -- true && rlock check"
            assert_equal "$kind: $status: $stderr" "$kind: 0: "
            assert_no_keys
        fi
        holds a "${take[@]}"
        act b "${rival[@]}" -q
        wait_until 5 stand 1
        try status --json x
        seen=$output
        assert_seen 'v[0]["state"]' held
        [[ $kind == *--plain* ]] || rlock break --force x
        brief a b
        gone '0|76' a b
        assert_free
        [[ $kind != *--plain* ]] || continue
        handle=$(rlock acquire "${take[@]}" -n x -l 10s)
        rlock check "$handle"
        rlock renew -l 20s "$handle"
        try release "$handle"
        assert_equal "$kind: $status: $stderr" "$kind: 0: "
        try "${take[@]}" -n x --min-hold "$(ms 200)" -- true
        assert_equal "$kind: $status: $stderr" "$kind: 0: "
        try "${take[@]}" -n x -- true
        assert_equal "$kind: $status" "$kind: 0"
        wait_until 3 assert_free
    done
    rlock write -n x -- rlock read -n x -- rlock read -n x -- true
    assert_no_keys
}

@test "latches; --once-per, --supersede, --preempt" {
    rlock latch set -n x --count 2
    start latch wait -q -n x -- touch waited
    rlock latch down -n x
    rlock latch down -n x -- true
    reap "$pid" 5
    assert_equal "$status: $(cat err)" "0: "
    assert_file_exist waited
    assert_no_keys
    rlock run --once-per 1h -n x -- true
    rlock run --once-per 1h -n x -- touch ran
    assert_file_not_exist ran
    redis DEL 'rlock_last:{x}' >/dev/null
    holds a fair --preemptible
    act b fair --supersede -q
    wait_until 5 stand 1
    act c fair --supersede --preempt -q
    gone 79 a b
    finish c
    assert_no_keys
}

@test "a quorum of strict servers: run, read, write" {
    local kind
    server_start q1
    server_start q2
    for kind in run read write; do
        try $kind -s "$RLOCK_SERVER" -s "$(server_url q1)" -s "$(server_url q2)" -n x -l "$(ms 1500)" -- \
            sh -c "rlock $kind -n x -- sleep $SLOW"
        assert_equal "$kind: $status: $stderr" "$kind: 0: "
        assert_no_keys
    done
}

# A reader of Redisson's, as Redisson makes it.
redisson_reads() { # OWNER MS
    redis HSET x mode read "$1" 1 >/dev/null
    redis SET "{x}:$1:rwlock_timeout:1" 1 PX "$2" >/dev/null
    redis PEXPIRE x "$2" >/dev/null
}

@test "beside readers of Redisson's: read and write take, wait, look, break" {
    local owner=11111111-2222-4333-8444-55555555555 n
    for n in 1 2 3 4; do
        redisson_reads "$owner$n:7" 60000
    done
    try read -n x -l "$(ms 1500)" -- sh -c "sleep $SLOW; rlock read -n x -- rlock check"
    assert_equal "$status: $stderr" "0: "
    try write -x -n x -- touch ran
    assert_failure 75
    try status --json x
    assert_success
    seen=$output
    assert_seen 'len(v[0]["holders"])' 4
    rlock break --force x
    assert_no_keys
    redisson_reads "${owner}5:7" $((1500 * SLOW))
    act b write -q
    wait_until 5 stand 1
    brief b
    gone 0 b
    assert_no_keys
}

# Redis 5 answers so far as all do: NOSCRIPT, and then what a script returns.
@test "a server older than Redis 6.0: each command is refused in a sentence, and nothing is touched" {
    local kind command commands=('status --json x' 'break --force x' 'latch set -n x --count 1' 'latch down -n x'
        'latch wait -q -n x' 'sem -n x --resize 3')
    helpers_stop
    rm strict.sock
    strict_start old
    for kind in "${kinds[@]}"; do
        commands+=("$kind -q -n x -- touch ran")
        [[ $kind == *--plain* ]] || commands+=("acquire $kind -q -n x")
    done
    for command in "${commands[@]}"; do
        # shellcheck disable=SC2086
        refuses 0 3000 69 'older than Redis 6.0' -- $command
        refute_regex "$stderr" 'may stay held'
        assert_equal "$(keys)" ""
    done
}

@test "status without a name finds what is held, without a script; doctor says unknown, and what is wrong" {
    holds a run
    try status --json
    assert_success
    assert_output --partial '"name":"x"'
    finish a
    try doctor
    assert_line --regexp '^unknown +timeout +cannot tell'
    assert_line --regexp '^ok +scripts '
    assert_line --regexp '^ok +lock cycle '
    assert_line --regexp '^unknown +rights '
    refute_line --regexp '^[a-z]+ +wait ' # without --replicas nobody misses it
}

@test "a server without CONFIG, INFO, CLIENT, SLOWLOG, SCRIPT: doctor says unknown, and all works" {
    local kind command hidden=()
    for command in CONFIG INFO CLIENT SLOWLOG SCRIPT ROLE COMMAND; do
        hidden+=(--rename-command "$command" "no-such-$command")
    done
    server_start hidden "${hidden[@]}"
    RLOCK_SERVER=$(server_url hidden)
    for kind in "${kinds[@]}"; do
        # shellcheck disable=SC2086
        try $kind -n x -- sh -c "rlock status -q x; test \$? = 75"
        assert_equal "$kind: $status: $stderr" "$kind: 0: "
        redis_on hidden DEL x
    done
    hold x
    rlock break --force -q x
    reaps 76 "$holder"
    try doctor
    assert_equal "$status $(grep '^finding' <<<"$output") $stderr" "0  "
    for command in version eviction persistence replicas clients timeout slow; do
        assert_line --regexp "^unknown +$command +cannot tell"
    done
    assert_line --regexp '^ok +lock cycle '
}

@test "a server without SUBSCRIBE: a waiter looks by itself" {
    server_start deaf --rename-command SUBSCRIBE no-such-subscribe
    RLOCK_SERVER=$(server_url deaf)
    holds a fair
    act b fair -q
    sleep "$SLOW"
    finish a b
    assert_equal "$(cat b.err)" ""
}

@test "a server without a command that the scripts call: 69 at once, by its name" {
    server_start lame --rename-command DEL no-such-del
    ends_saying 69 "unknown command 'DEL'" -- fair -s "$(server_url lame)" -n x -- touch ran
    assert_file_not_exist ran
}
