#!/usr/bin/env bats
# break.bats: rlock break: each kind is taken away from its holders, rlock's and Redisson's, and who
# waits is woken.

load ../../lib/rlock
load ../../lib/kinds
load ../../lib/actors

# broken [OPTION...]: x is taken away, without a question.
broken() {
    try break --force "$@" x
    assert_success
}

hear_of_breaks() { # HOLDERS: they do after a second
    (($(redis PUBSUB CHANNELS 'rlock_break:*' | grep -c .) == $1))
}

@test "each kind: the command is stopped at once, not at the next renewal, and told who did it; who waits comes in at once" {
    local kind
    kinds=("${leased[@]}")
    all_hold -l 60s
    for kind in "${kinds[@]}"; do
        next "$kind"
        wait_until 5 waited_for "$kind"
    done
    wait_until 10 hear_of_breaks "${#kinds[@]}"
    for kind in "${kinds[@]}"; do
        LOGNAME=alice within 2000 try break --force "$kind"
        assert_output ""
        assert_regex "$stderr" "^rlock: broke $kind: it was held by .*@.* pid [0-9]+( for .*)?, .*/section [^;]*
rlock: 1 waited for it: the next has been woken
rlock: [^ ]*@[^ ]* says that its command has stopped, [0-9]+m?s after the break\$"
        wait_until 2 test -s "next-$kind"
    done
    all_end 76
    assert_equal "$(grep -L 'was taken away by alice@' "${kinds[@]/%/.err}")" ""
    : >over
    for kind in "${kinds[@]}"; do
        reap "${rlock_of[next-$kind]}"
        assert_equal "$kind: $status" "$kind: 5"
        assert_equal "$kind: $(redis GET "redisson_lock_token:{$kind}")" "$kind: 2"
    done
    all_are_free
}

@test "it waits until the holder, here of two names, says that its command has stopped; who listens does so at once" {
    start run -n w -n x -l 60s -- sh -c 'trap "sleep 0.3; touch cleaned; exit 0" TERM; touch ready; while :; do sleep 0.05; done'
    wait_until 10 test -e ready
    wait_until 10 hear_of_breaks 1
    within $((5000 * SLOW)) broken
    assert_file_exists cleaned
    assert_stderr_has "$(id -un)@$(uname -n) says that its command has stopped, "
    refute_regex "$stderr" 'may run on'
    reaps 76 "$pid"
}

@test "nobody answers: after --wait it says so, and how long the command may run on; --wait 0 asks nobody" {
    start run -n x --on-lost warn -- sleep 60
    wait_until 10 hear_of_breaks 1
    broken -w 300ms
    assert_regex "$stderr" 'has not answered within [0-9]+ms: its command may run on for 2[0-9]s at most'
    kill -KILL "$pid"
    reap "$pid"
    holds again run
    broken -w 0
    assert_stderr_has '; its command may run on for '
    refute_regex "$stderr" '(says|answered)'
    gone 76 again
    start run -n x -l "$(ms 1000)" -- sleep 60
    wait_until 5 assert_held x
    kill -STOP "$pid"
    took 0 "$((1500 * SLOW))" "$RLOCK" break --force -w 60s x # beyond its lease nothing of it runs on
    assert_success
    assert_stderr_has 'its lease would be over: its command has been stopped'
    kill -CONT "$pid"
    reaps 76 "$pid"
}

@test "a command that begins as a script's does is one: it is waited for" {
    start run -q -n x -c "rlock acquire run -n y -l 60s >/dev/null; trap 'sleep 0.5; exit' TERM; echo >held; sleep 60 & wait"
    wait_until 10 test -s held
    broken
    assert_stderr_has 'its command has stopped'
    reaps 76 "$pid"
}

@test "a hold without a command: that is said, in the question too, and nobody is waited for" {
    local handle
    handle=$(rlock acquire run -n x -l 10m)
    answer $'y\n'
    assert_output --partial 'rlock: it has no command, and what relies on it is not stopped: break x? [y/N] '
    assert_output --regexp 'broke x: it was held by [^;]*, rlock acquire run; it has no command, and what relies on it is not stopped'
    run -1 rlock check "$handle"
    rlock acquire run -n x -l 60s
    within 5000 broken --log json
    refute_regex "$stderr" runs_on_ms
    rlock run -n x --min-hold 60s -- true
    broken
    assert_regex "$stderr" '^rlock: broke x: it was kept by --min-hold of [^;]*, true$'
}

@test "readers: how long the last may run on is asked; one with --owner, the other stays; each says when it has stopped" {
    holds early read -l 20s
    holds late read -l 10m
    wait_until 10 hear_of_breaks 2
    answer $'n\n'
    assert_output --regexp 'rlock: its command may run on for (10|9m[0-9]+s)m? at most: break x\? \[y/N\] '
    broken --owner "$(redis HGETALL x | grep "${pid_of[early]}@")"
    gone 76 early
    assert_equal "$(redis HGET x mode) $(redis HLEN x)" 'read 2'
    holds again read
    wait_until 10 hear_of_breaks 2
    try break --force -n x # -n NAME is NAME
    assert_success
    assert_equal "$(grep -c 'says that its command has stopped' <<<"$stderr")" 2
    gone 76 late again
    assert_no_keys
}

@test "nested holds go together, and a lock that is broken and taken anew is not given back by the old holder" {
    start run -n x -l "$(ms 900)" -- rlock run -n x -- sh -c 'echo in >inner; sleep 60'
    local outer=$pid
    wait_until 10 test -s inner
    assert_equal "$(redis HVALS x)" 2
    broken
    holds next run
    reaps 76 "$outer"
    assert_held x
    finish next
}

@test "sem: the permits come back, of one holder or of all, and who waits gets them" {
    holds one sem --permits 3 --take 2 -l "$(ms 900)"
    holds two sem --permits 3 -l "$(ms 900)"
    act three sem --permits 3 --take 2
    wait_until 5 waited_for
    broken --owner "$(redis HVALS 'rlock_hold:{x}' | sed -n "s/^[0-9]* \(.*:${pid_of[one]}@.*\)/\1/p")"
    assert_stderr_has '2 permits'
    wait_until 2 entered_section three # sooner than any waiter comes by itself
    gone 76 one
    broken
    gone 76 two three
    assert_equal "$(redis GET x)" 3
    assert_keys x
}

@test "sem --plain: its permits come back, once" {
    holds one sem --plain --permits 2 --take 2
    broken
    assert_equal "$(redis GET x)" 2
    brief one
    gone 76 one
    assert_equal "$(redis GET x)" 2
}

@test "Redisson's holders, and its waiters' message; how long they may run on nobody knows" {
    local kind
    listen 'redisson_lock__channel:{run}' 'redisson_rwlock:{read}' 'redisson_rwlock:{write}' 'redisson_sc:{sem}'
    foreign_all
    for kind in run read write sem; do
        try break --force "$kind"
        assert_success
        assert_stderr_has "broke $kind" 'its command may keep running, rlock cannot tell for how long'
        [[ $kind == sem ]] || assert_stderr_has "held by $foreign_owner"
    done
    assert_equal "$(keys | sort | paste -sd ' ') $(redis GET sem)" 'fair latch plain sem 1'
    wait_until 2 eval '[[ $(tail -n +13 messages | paste -sd " ") == "message redisson_lock__channel:{run} 0 \
message redisson_rwlock:{read} 1 message redisson_rwlock:{write} 0 message redisson_sc:{sem} 1" ]]'
}

@test "what cannot be broken stays as it is: what nobody, or another one, holds: 1; a latch, another key: 65" {
    local expected said options stands before
    while IFS='|' read -r expected said options stands; do
        redis FLUSHALL
        eval "$stands"
        before=$(redis DUMP x | base64)
        # shellcheck disable=SC2086
        ends_saying "$expected" "$said" -- break $options x
        assert_equal "$said: $(redis DUMP x | base64)" "$said: $before"
    done <<'END'
1|cannot break x: nobody holds it||: # nor is it asked about
1|nobody holds it|--force|:
1|1 wait for it|--force|redis RPUSH redisson_lock_queue:{x} us; redis ZADD redisson_lock_timeout:{x} 9999999999999 us
1|somebody does not hold it|--force --owner somebody|foreign_hold x 60000
65|rlock latch down -n x --by 4|--force|rlock latch set -n x --count 4
65|x|--force|redis SADD x member
65|x|--force|redis HSET x mode write width 640
65|x|--force -w 0 --owner width|redis HSET x mode write width 640
END
    assert_equal "$(rlock status --json)" '[]'
}

@test "a lost answer: it is broken once, and that is said" {
    foreign_hold x 60000
    proxy_start
    proxy lose-reply "$(sha break)" 1
    broken
    assert_stderr_has "broke x"
    assert_bitten lost-reply
    assert_no_keys
}

@test "--log json and -q" {
    foreign_hold x 60000
    broken --log json
    assert_stderr_has '"event":"broken"' '"name":"x","kind":"run"' "\"holder\":\"$foreign_owner\"" '"waiting":0'
    foreign_hold x 60000
    broken -q
    assert_equal "$stderr" ""
}

# --- the question ------------------------------------------------------------------------------

# answer KEYS [STEP]: to the question, on a terminal, after that step; sets status and output.
answer() {
    run timeout $((20 * SLOW)) python3 "$TOOLS/terminal.py" 'expect=break x? [y/N] ' "${@:2}" "keys=$1" -- "$RLOCK" break x
}

@test "it shows whom, and asks: y breaks, all else does not; without a terminal: 64" {
    local no
    hold x
    ends_saying 64 -- break x
    assert_regex "$stderr" 'break x, held by .*@.* pid [0-9]+( for .*)?, .*: give --force$'
    assert_held x
    for no in $'n\n' $'\n' $'\x04' '^C'; do
        answer "$no"
        assert_failure "$([[ $no == ^C ]] && echo 130 || echo 1)"
        assert_output --regexp 'x \(run\) is held by .*@.* pid [0-9]+( for .*)?, sh -c .*; its lease ends in '
        assert_held x
        [[ $no != $'\x04' ]] || assert_output --partial $'? [y/N] \r\nrlock: x is as it was'
    done
    echo 'quiet = yes' >quiet.conf
    RLOCK_CONFIG=$PWD/quiet.conf answer $'n\n'
    assert_output --regexp 'x \(run\) is held by .*break x\? \[y/N\]'
    answer $'y\n'
    assert_success
    assert_output --regexp 'rlock: its command may run on for [12]?[0-9](\.[0-9]+)?s at most: break x\? \[y/N\] '
    assert_output --regexp 'broke x: it was held by .*'
    assert_equal "$(redis EXISTS x)" 0
}

@test "the holder changes while it asks: nothing is broken" {
    local other=99999999-2222-4333-8444-555555555555:1
    foreign_hold x 60000
    answer $'y\n' "sh=redis-cli -s '$BATS_FILE_TMPDIR/main/sock' EVAL 'redis.call(\"DEL\", \"x\")
        redis.call(\"HSET\", \"x\", \"$other\", 1) return redis.call(\"PEXPIRE\", \"x\", 60000)' 0"
    assert_failure 1
    assert_output --partial 'its holder has changed meanwhile'
    assert_equal "$(redis HKEYS x)" "$other"
}
