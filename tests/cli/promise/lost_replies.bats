#!/usr/bin/env bats
# lost_replies.bats: a request or a reply lost on the network never takes a lock twice and never gives
# one back twice, of whatever kind.

load ../../lib/rlock
load ../../lib/kinds

proxied=yes

# What is held of a lock, and of a semaphore what is available: by a command under the lock, who then ends with 5.
look='redis-cli -s "$0" EVAL "
    local kind = redis.call([[TYPE]], KEYS[1]).ok
    if kind == [[string]] then
        return redis.call([[GET]], KEYS[1]) .. [[ left, ]] .. redis.call([[ZCARD]], [[{]] .. KEYS[1] .. [[}:timeout]])
    end
    local holds = 0
    for _, n in ipairs(redis.call([[HVALS]], KEYS[1])) do holds = holds + (tonumber(n) or 0) end
    return holds" 1 "$RLOCK_NAME"; exit 5'
declare -gA held=([run]=1 [fair]=1 [read]=1 [write]=1 [sem]='0 left, 2' [plain]='0 left, 0')
how[sem]='sem --take 2 --permits 2'

# all_look [OPTION...]: each is held once, for the one token that was given, and then not at all.
all_look() {
    local kind
    for kind in "${kinds[@]}"; do
        # shellcheck disable=SC2086
        log=$kind start ${how[$kind]} -n "$kind" --io-timeout "$io" "$@" -- sh -c "$look" "$direct"
        rlock_of["$kind"]=$pid
    done
    for kind in "${kinds[@]}"; do
        reap "${rlock_of[$kind]}"
        assert_equal "$kind: $status $(cat "$kind.out")" "$kind: 5 ${held[$kind]}"
    done
    all_are_free
}

one_token_each() {
    local kind
    for kind in "${kinds[@]}"; do
        [[ $kind == sem || $kind == plain ]] || assert_equal "$kind $(redis GET "redisson_lock_token:{$kind}")" "$kind 1"
    done
}

# each_is_lost REQUEST_OF
each_is_lost() {
    local fault
    for fault in lose-reply mute-reply lose-request mute-request; do
        fresh
        all_meet "$fault" "$1" 1
        all_look
        one_token_each
        assert_bitten "lost-${fault#*-}" "${#kinds[@]}"
    done
}

@test "the request to take it is lost, or its reply, or three replies: one hold, one token, nothing left" {
    each_is_lost acquire_of
    fresh
    all_meet lose-reply acquire_of 1 3
    all_look
    one_token_each
    assert_bitten lost-reply 18
}

@test "the request to give it back is lost, or its reply: the command's status, nothing left, nothing twice" {
    kinds=(run read sem plain) # fair and write are given back by the same scripts
    each_is_lost release_of
}

@test "while waiting: the grant's reply is lost, and still one section" {
    local kind
    RLOCK_SERVER=unix://$direct all_hold
    for kind in "${kinds[@]}"; do
        next "$kind" --io-timeout "$io"
        wait_until 5 waited_for "$kind"
    done
    all_meet lose-reply acquire_of 1
    all_end 5
    each_ends 5 next
    for kind in "${kinds[@]}"; do
        cat "$kind" "next-$kind" >history
        check_history --min-sections 2 history
    done
    assert_bitten lost-reply "${#kinds[@]}"
    all_are_free
}

# all_in_doubt OPTION...: each asks for its lock, and the reply to that does not come.
all_in_doubt() {
    local kind
    all_meet mute-reply acquire_of 1
    for kind in "${kinds[@]}"; do
        section_of "${how[$kind]}" "$kind" "$kind" "$@"
    done
    wait_until 5 assert_bitten lost-reply "${#kinds[@]}"
}

@test "the reply is lost and the server gone until the wait ends: 69, no section, the doubt is told; free again in time" {
    local kind
    kinds=("${leased[@]}")
    all_in_doubt -q --io-timeout "$io" -w "$(ms 1500)" -l "$(ms 2000)"
    proxy refuse
    for kind in "${kinds[@]}"; do
        reap "${rlock_of[$kind]}" 8
        assert_equal "$kind $status" "$kind 69"
        assert_file_not_exist "$kind"
        stderr=$(cat "$kind.err")
        assert_message
        assert_regex "$stderr" "$kind.*may|may.*$kind"
    done
    # A semaphore's permit comes back when somebody looks.
    rlock sem -s "unix://$direct" -n sem -w "$(ms 5000)" -q -- true
    wait_until 5 all_are_free
}

@test "interrupted before the grant's reply has come: given back at once; where the server is gone the doubt is told" {
    local kind
    all_in_doubt -q
    all_are_told TERM
    within $((2000 * SLOW)) all_end 143
    all_are_free
    : >proxy.log
    all_in_doubt --io-timeout "$(ms 2000)" # before which none asks again
    proxy refuse
    all_are_told TERM
    within $((3000 * SLOW)) all_end 143
    for kind in "${kinds[@]}"; do
        assert_file_not_exist "$kind"
        stderr=$(cat "$kind.err")
        [[ $kind != plain ]] || assert_stderr_has "plain permits of plain may stay taken: see 'rlock break'"
        [[ $kind == plain ]] || assert_stderr_has "$kind may stay held for up to 30s"
    done
}

@test "the reply comes after the lease's end: the command starts only on a lease that is sure; why is told" {
    local kind
    kinds=("${leased[@]}")
    all_meet delay-reply acquire_of 1 $((1000 * SLOW))
    io=5s
    all_look -l "$(ms 600)" --log json
    for kind in "${kinds[@]}"; do
        grep -q 'the answer took more than half of the lease' "$kind.err" || fail "$kind: $(cat "$kind.err")"
    done
    assert_bitten delayed "${#kinds[@]}"
}

renew_of() { # KIND
    sha renew "${part[$1]}"
}

@test "replies to renewals are lost, or one never comes: tried again at once, the command goes on" {
    local fault kind end
    kinds=(run read sem)
    for fault in lose-reply mute-reply; do
        fresh
        all_meet "$fault" renew_of 1 2
        all_hold -l "$(ms 1800)" --io-timeout "$io"
        end=$(($(now_ns) + 2400 * SLOW * 1000000))
        for kind in "${kinds[@]}"; do
            wait_until 20 beaten "$end" "$kind.beat"
        done
        assert_bitten lost-reply 6
        all_end 5
        all_are_free
        rm -f "${kinds[@]}"
    done
}

@test "nested: what is lost of the inner one counts once, and leaves the outer hold" {
    local outer inner expected nth
    export SOCKET=$direct
    printf '%s\n' 'redis-cli -s "$SOCKET" HMGET x "$RLOCK_OWNER" "$RLOCK_OWNER:write" | paste -s -d ,' >look
    while read -r outer inner nth expected; do
        fresh
        proxy lose-reply "$(acquire_of "$inner")" "$nth" 2
        proxy lose-reply "$(release_of "$inner")" 1 2
        try "$outer" -n x -- sh -c 'rlock "$0" -n x -- sh look; exec sh look' "$inner"
        assert_equal "$outer $inner: $status ${lines[*]}" "$outer $inner: 0 $expected"
        assert_bitten lost-reply 4
        assert_no_keys
    done <<'END'
run run 2 2, 1,
read read 2 2, 1,
write write 2 ,2 ,1
write read 1 1,1 ,1
END
}

@test "a request to set a latch, count it down, or resize is lost, or the reply: done once, told once" {
    local fault before nth script words after told channel='redisson_countdownlatch__channel__{x}'
    for fault in lose-reply mute-reply lose-request mute-request; do
        : >proxy.log
        while IFS='|' read -r before nth script words after told; do
            redis FLUSHALL
            [[ -z $before ]] || redis SET x "$before"
            listen "$channel"
            # shellcheck disable=SC2086
            proxy "$fault" "$(sha $script)" "$nth"
            # shellcheck disable=SC2086
            try ${words/ -n x/ -n x --io-timeout $io}
            assert_equal "$fault, $words: $status $stderr" "$fault, $words: 0 "
            assert_equal "$fault, $words: $(redis GET x) $(heard "$channel")" "$fault, $words: $after $told"
            assert_tombstones_end
            proxy pass
        done <<'END'
|1|set latch|latch set -n x --count 3|3|1
9|1|down latch|latch down -n x|8|
9|2|down latch|latch down -n x -- true|8|
1|1|down latch|latch down -n x||0
3|1|resize sem|sem -n x --resize 5|5|
END
        assert_bitten "lost-${fault#*-}" 5
    done
}
