#!/usr/bin/env bats
# waits.bats: each kind of lock, and each end of a wait for it: what is said, the status, and that nothing is left.

load ../../lib/rlock
load ../../lib/kinds

kinds+=(latch)
how[latch]='latch wait'

# busy KIND: somebody else has x until let-go; before is what stands then.
busy() {
    redis FLUSHALL >/dev/null
    rm -f let-go
    first_holds "$1"
    # shellcheck disable=SC2206
    take=(${how[$1]} -n x)
    keys | sort >before
}

# It listens, and stands in line, which a latch has none of.
waiting() {
    [[ -n $(redis PUBSUB CHANNELS) ]] && { [[ $kind == latch ]] || waited_for; }
}

# It has left nothing, and the lock is free when the holder ends.
assert_left() {
    assert_file_not_exist ran
    diff before <(keys | sort)
    wait_until 2 no_subscriptions
    : >let-go
    reap "$first"
    assert_equal "$kind: $status" "$kind: 0"
    wait_until 2 assert_free "$kind"
}

@test "--wait: given up then, not earlier and not much later: 75" {
    local kind
    for kind in "${kinds[@]}"; do
        busy "$kind"
        took 600 1100 rlock "${take[@]}" -w 600ms -- touch ran
        assert_equal "$kind: $status" "$kind: 75"
        stderr=$(tail -n 1 <<<"$stderr")
        assert_message
        [[ $kind =~ plain|latch ]] || assert_stderr_has x "pid $first"
        assert_left
    done
}

@test "--no-wait and --wait 0: at once, without subscribing: 75, or -E" {
    local kind
    for kind in "${kinds[@]}"; do
        busy "$kind"
        monitor took 0 500 rlock "${take[@]}" -x -- touch ran
        assert_equal "$kind: $status" "$kind: 75"
        # The holder listens, too, from some instant on.
        assert_equal "$kind: $(grep -i '"subscribe"' monitor.txt | grep -v rlock_break)" "$kind: "
        took 0 500 rlock "${take[@]}" -w 0 -E 9 -- touch ran
        assert_equal "$kind: $status" "$kind: 9"
        assert_left
    done
}

@test "the waiting line names the kind and the holder, another line says when it was taken; -q neither" {
    local kind shown
    for kind in "${kinds[@]}"; do
        busy "$kind"
        log=loud start "${take[@]}" -- true
        local loud=$pid
        start "${take[@]}" -q -- true
        wait_until 5 grep -q waiting loud.err
        wait_until 5 waiting
        shown=" \\($kind(, [^)]*)?\\)"
        [[ $kind != run ]] || shown=
        if [[ $kind == latch ]]; then
            assert_regex "$(cat loud.err)" '^rlock: waiting .*for x \(latch, 1 to go\)'
        elif [[ $kind != plain ]]; then
            assert_regex "$(cat loud.err)" \
                "^rlock: waiting .*for x$shown: held by $(id -un)@$(uname -n) pid $first( for [0-9]+(s|m))?, sh -c"
        fi
        : >let-go
        reap "$pid"
        assert_file_empty err
        reap "$loud"
        assert_equal "$kind: $status $(wc -l <loud.err)" "$kind: 0 2"
        assert_regex "$(tail -n 1 loud.err)" '^rlock: (took|passed) x after [0-9]+(ms|s)(, token [0-9]+)?$'
        reap "$first"
        assert_free "$kind"
    done
}

@test "a signal: at once, 128+N, the command never ran, nothing left" {
    local kind signal
    for kind in "${kinds[@]}"; do
        busy "$kind"
        for signal in INT TERM HUP QUIT ALRM XCPU; do
            [[ $kind == run || $signal == INT || $signal == TERM ]] || continue
            start "${take[@]}" -- touch ran
            wait_until 5 waiting
            kill "-$signal" "$pid"
            within 1000 reap "$pid"
            assert_equal "$kind $signal: $status" "$kind $signal: $((128 + $(kill -l "$signal")))"
            wait_until 2 no_subscriptions
        done
        assert_left
    done
}

@test "the server goes away and comes back: the wait goes on; not in time: 69" {
    local kind who
    server_start lone --appendonly yes --appendfsync always
    RLOCK_SERVER=$(server_url lone)
    foreign_all lone
    for kind in "${kinds[@]}"; do
        section_of "${how[$kind]}" "$kind" "patient-$kind"
        section_of "${how[$kind]}" "$kind" "hasty-$kind" -w "$(ms 3000)"
    done
    for who in {patient,hasty}-run {patient,hasty}-{fair,read,write,sem,plain,latch}; do
        wait_until 10 grep -q waiting "$who.err"
    done
    server_stop lone
    each_ends 69 hasty 8
    server_start lone --appendonly yes --appendfsync always
    : >over
    for kind in "${kinds[@]}"; do
        wait_until 10 listens "$kind"
        assert_file_not_exist "hasty-$kind"
        assert_file_not_exist "patient-$kind"
    done
    redis_on lone FLUSHALL # of which nobody is told
    each_ends 5 patient 10
}

listens() { # NAME
    [[ -n $(redis_on lone PUBSUB CHANNELS "redisson*{$1}*") ]]
}

@test "a dead waiter and a stopped one do not keep the next from its turn" {
    local kind who number=0 late
    kinds=(run read sem plain) # writers wait for the readers; of fair: fair.bats
    all_hold
    for who in dead stopped next; do
        number=$((number + 1))
        for kind in "${kinds[@]}"; do
            section_of "${rival[$kind]}" "$kind" "$who-$kind" -q
        done
        for kind in "${kinds[@]}"; do
            wait_until 5 in_line "$kind" "$number"
        done
    done
    for kind in "${kinds[@]}"; do
        kill -KILL "${rlock_of[dead-$kind]}"
        kill -STOP "${rlock_of[stopped-$kind]}"
    done
    all_end 5
    each_ends 5 next
    for kind in "${kinds[@]}"; do
        late=$((($(entered "next-$kind") - $(left "$kind")) / 1000000))
        ((late < 6000 * SLOW)) || fail "$kind: $late ms"
        assert_file_not_exist "dead-$kind"
        kill -CONT "${rlock_of[stopped-$kind]}"
    done
    each_ends 5 stopped
}

@test "connections are killed: it listens again, and is woken" {
    local kind freed
    for kind in "${kinds[@]}"; do
        busy "$kind"
        rm -f second
        may_bury # a try that the kill has hit
        start "${take[@]}" -- "$SECTION" --log second
        wait_until 5 waiting
        redis CLIENT KILL TYPE pubsub
        redis CLIENT KILL TYPE normal
        freed=$(now_ns)
        : >let-go
        reap "$first"
        reap "$pid"
        assert_equal "$kind: $status" "$kind: 0"
        # Sooner than anybody tries who has heard nothing.
        (($(entered second) - freed < 1500000000 * SLOW)) || fail "$kind: $(($(entered second) - freed)) ns"
        assert_free "$kind"
    done
}
