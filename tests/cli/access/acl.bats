#!/usr/bin/env bats
# acl.bats: rlock as a user who may do what rlock-server(7) says, and no more; and without one of these rights: 77 before
# anything is taken, or, for what is optional, the same as ever, only later. What it says is compared with what scripts
# do in lua/rights.bats, which also shows that no script leaves anything behind.
# shellcheck disable=SC2086 # rows of words

load ../../lib/rlock
load ../../lib/actors
load ../../lib/rights
load ../../lib/acl
load ../../lib/handles

renewed() { # TIMES
    (($(calls evalsha) > $1))
}

# A whole life: taken, renewed past the first lease, waited for, handed over by message, given back.
live() { # KIND [OPTION...]
    local words
    read -ra words <<<"${how[$1]}"
    allow "$1"
    holds first "${words[@]}" "${@:2}"
    [[ $1 == 'sem --plain' ]] || wait_until 20 renewed 4
    act second "${words[@]}" "${@:2}"
    wait_until 5 listening
    finish first second
    assert_gap first second 1000
    cat first.err second.err
    assert_equal "$(cat first.err second.err | grep -v -e waiting -e took)" ""
}

nest() { # KIND
    take "$1" -- rlock ${how[$1]} -x -n x -- echo inside
    assert_equal "$status: $output$stderr" "0: inside"
}

@test "each kind: its rules are enough for a whole life, and to re-enter" {
    local kind
    for kind in run fair write sem 'sem --plain'; do
        rm -f history end-*
        live "$kind" -l "$(ms 600)"
        if [[ $kind == sem* ]]; then
            assert_equal "$(redis GET x)$(redis DEL x)" 11
        else
            nest "$kind"
        fi
        assert_no_keys
    done
    allow read
    occupy read
    act reader read -l "$(ms 600)"
    wait_until 5 listening
    redis DEL x
    redis PUBLISH 'redisson_rwlock:{x}' 1
    wait_until 10 entered_section reader
    wait_until 20 renewed 6
    finish reader
    nest read
    assert_no_keys
}

@test "--preempt and --preemptible: who has no right to rlock_break:* hears so, both of them; with it all is well" {
    allow fair
    holds a fair --preemptible
    wait_until 5 grep -q '^rlock: no waiter can ask for x: cannot listen to rlock_break:\*: ' a.err
    brief b
    act b fair --preempt
    wait_until 5 grep -qx 'rlock: cannot ask the holder of x to end: no right to publish to rlock_break:\*; waiting for it' b.err
    finish a b
    allow fair
    redis ACL SETUSER default '&rlock_break:*'
    holds c fair --preemptible
    brief d
    act d fair --preempt
    gone 79 c
    gone 0 d
}

@test "latch: the rules to set it, to wait for it and to count it down are enough" {
    allow 'latch set'
    rlock latch set -n x --count 2
    allow 'latch down'
    rlock latch down -n x
    give main default '' 'latch wait' 'latch down' # while it waits
    log=waiter start latch wait -q -n x -- touch passed
    wait_until 5 listening
    rlock latch down -n x -- true
    reap "$pid"
    assert_equal "$status $(<waiter.err)" "0 "
    assert_file_exist passed
    allow 'latch wait'
    rlock latch wait -n x
}

@test "other names are none of its business: of several none is taken" {
    allow run
    run -77 rlock run -n x -n y -w 5s -- touch ran
    assert_file_not_exist ran
    assert_no_keys
}

@test "by a handle: the rules of its kind are enough, also to learn that another has it" {
    local kind
    for kind in run fair read write sem; do
        allow "$kind"
        redis FLUSHALL >/dev/null
        acquire ${how[$kind]}
        [[ $kind == read ]] || ends_saying 75 'held by' -- acquire ${how[$kind]} -x -n x
        rlock check "$handle"
        rlock renew "$handle"
        rlock release "$handle"
        run -1 rlock check "$handle"
        occupy "$kind"
        assert_lost -- renew "$handle"
        refute_regex "$stderr" '[Dd]enied|permission'
    done
}

# --- what is missing -------------------------------------------------------------------------------

# Somebody is refused: who takes it while it is free, or else who comes while it is busy. lua/rights.bats has what scripts call.
@test "77 without one of the commands that rlock itself sends; but nobody misses PUBLISH" {
    local kind without what
    for kind in run read sem 'sem --plain'; do
        for without in evalsha eval subscribe publish; do
            what="$kind without $without"
            redis FLUSHALL
            [[ $without != eval ]] || redis SCRIPT FLUSH
            allow "$kind" "+$without"
            take "$kind" -x -q -- true
            if ((status == 0)); then
                assert_all_end "$what"
                occupy "$kind"
                take "$kind" -q -w "$(ms 500)" -- touch ran
            fi
            if [[ $without == publish ]]; then
                assert_equal "$what: $status" "$what: 75"
                assert_all_end "$what"
                assert_file_not_exist ran
            else
                assert_refused "$what"
            fi
        done
    done
}

@test "77: each pattern for keys is needed, and nothing is written without it" {
    local kind without command='-- touch ran'
    for kind in run fair read write sem 'sem --plain' 'latch set'; do
        [[ $kind != latch* ]] || command=
        for without in $(rules "$kind" | grep '^~'); do
            allow "$kind" "$without"
            take "$kind" $command
            assert_refused "$kind without $without"
            assert_equal "$(keys)" ""
        done
    done
}

@test "77: who may not hear the channel may not wait, and needs it for nothing else" {
    local kind
    for kind in run fair read write sem 'sem --plain' 'latch wait'; do
        redis FLUSHALL >/dev/null
        allow "$kind" "$(rules "$kind" | grep '^&')"
        occupy "$kind"
        took 0 3000 rlock ${how[$kind]} -q -n x -w 20s -- touch ran
        assert_refused "$kind"
        take "$kind" -q -x -- touch ran
        assert_equal "$kind: $status" "$kind: 75"
        redis FLUSHALL >/dev/null
        take "$kind" -x -- true
        assert_equal "$kind: $status" "$kind: 0"
    done
}

# --- break -----------------------------------------------------------------------------------------

# state: of what is somebody else's, and waited for if it is a fair lock.
state() {
    redis EXISTS x '{x}:timeout' 'redisson_lock_queue:{x}'
}

@test "break: its rules are enough; without any of them: 77, and nothing was broken" {
    local word kind before ended
    for word in '' $(rules break | grep '^+' | grep -vxE '\+(eval|publish)'); do
        allow break "$word"
        ended=
        for kind in fair read write sem latch; do # the last is none that it breaks
            redis FLUSHALL
            occupy "$kind"
            if [[ $kind == fair ]]; then
                redis RPUSH 'redisson_lock_queue:{x}' waiter
                redis ZADD 'redisson_lock_timeout:{x}' 9999999999999 waiter
            fi
            before=$(state)
            try break --force x
            ended+="$status "
            ((status != 77)) || assert_equal "$word: $(state)" "$word: $before"
        done
        if [[ -z $word ]]; then
            assert_equal "$ended" '0 0 0 0 65 '
        else
            [[ $ended == *77* ]] || fail "nobody misses $word"
        fi
    done
}
