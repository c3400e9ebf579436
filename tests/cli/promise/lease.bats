#!/usr/bin/env bats
# lease.bats: the lease is renewed as long as the command runs, and the command is dead before the
# lease can end on the server.

load ../../lib/rlock
load ../../lib/kinds
load ../../lib/protected

has_connections() { # N
    (($(redis CLIENT LIST TYPE normal | grep -vc cmd=client) == $1))
}

@test "the renewal's connection is opened when the first renewal is due, not before" {
    protected -l "$(ms 3000)"
    has_connections 1
    wait_until 3 has_connections 2
    ends_well
}

@test "no renewal is under way when the lock is given back" {
    local n
    for n in {1..12}; do
        rlock run -n x -l "$(ms 450)" -- "$SECTION" --ms $((150 * SLOW))
        assert_free x
    done
    (($(calls evalsha) > 24)) || fail "no renewal in $(calls evalsha) scripts"
    assert_no_keys
}

@test "rlock stands still between the grant and the start until the lease is over: nothing is started" {
    command -v strace >/dev/null || skip "needs strace"
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    rlock run -n x -- true # the server knows the scripts now: one request each
    # Its second sendto(2) tells the guardian to start the command.
    run --separate-stderr strace -f -qq -o trace -e trace=sendto,execve \
        -e "inject=sendto:delay_enter=$((900000 * SLOW)):when=2" "$RLOCK" run -l "$(ms 600)" -n x -- touch ran
    assert_failure 76
    run grep -c 'execve.*touch' trace
    assert_output 1 # rlock's own
    assert_no_keys
}

@test "--no-renew: the command has one lease, and is dead before its end" {
    local end
    protected --no-renew -l "$(ms 1500)"
    end=$(expiry x)
    assert_lost
    assert_dead_before "$end" 1000
    run -4 rlock run --no-renew -l "$(ms 900)" -n x -- sh -c 'exit 4'
}

@test "the server stands still when the keeper wants to hear of a break: it waits for it, and costs nothing" {
    local -a stat
    protected -l "$(ms 30000)"
    freeze main
    sleep 3
    read -ra stat <<<"$(sed 's/.*) //' "/proc/$holder/stat")"
    thaw main
    ends_well
    ((stat[11] + stat[12] < 50)) || fail "$((stat[11] + stat[12])) hundredths of a second of processor time"
}

@test "connections are refused, redis is stopped, or has a pause of writes: dead before the lease's end" {
    local server
    local -A end
    proxy_start
    server_start stopped
    server_start paused
    kinds=(refused stopped paused) # of ends
    for server in "${kinds[@]}"; do
        [[ $server == refused ]] || RLOCK_SERVER=$(server_url "$server")
        section_of run "$server" "$server" -l "$(ms 1500)"
    done
    for server in "${kinds[@]}"; do
        wait_until 10 test -s "$server"
    done
    proxy refuse
    redis_on paused CLIENT PAUSE 60000 WRITE
    kill -STOP "$(server_pid stopped)"
    end=([refused]=$(expiry refused) [paused]=$(expiry paused paused) [stopped]=$(($(now_ns) + 1500000000 * SLOW)))
    all_end 76
    for server in "${kinds[@]}"; do
        assert_dead_before "${end[$server]}" 1500 "$server.beat"
    done
}

@test "rlock or the server stands still, this crashes and comes back, breaks connections, forgets scripts: the command goes on" {
    server_start aof --appendonly yes --appendfsync always
    RLOCK_SERVER=$(server_url aof) protected -l "$(ms 3000)"
    kill -STOP "$holder"
    alive_for 900
    kill -CONT "$holder"
    alive_for 2300 # a renewal, each second, has just been answered
    freeze aof
    alive_for 1300
    thaw aof
    alive_for 2000
    server_stop aof
    server_start aof --appendonly yes --appendfsync always
    alive_for 2000
    alive_for 3000 3>&- &
    while kill -0 $! 2>/dev/null; do
        redis_on aof SCRIPT FLUSH >/dev/null
        redis_on aof CLIENT KILL TYPE normal >/dev/null
        sleep 0.1
    done
    wait $!
    assert_equal "$(redis_on aof EXISTS x)" 1
    ends_well
    assert_equal "$(redis_on aof EXISTS x)" 0
}

@test "a tree that takes long to end is ended as much sooner, and dead before the lease's end" {
    local end many='trap "" TERM; "$SECTION" --log history --beat beat --ignore-term --until never &
        for i in $(seq 60); do sleep 600 & done; wait'
    command -v strace >/dev/null || skip "needs strace"
    export SECTION ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    # 5 ms for each process, whose first is the last.
    strace -D -f -qq -o trace -e trace=pidfd_open -e inject=pidfd_open:delay_enter=5000 "$RLOCK" run -n x \
        -l "$(ms 3000)" --kill-after "$(ms 1000)" --no-renew -- sh -c "$many" >out 2>err </dev/null 3>&- 4>&- &
    holder=$!
    wait_until 10 test -s beat
    end=$(expiry x)
    reaps 76 "$holder"
    assert_dead_before "$end" 1000
}

@test "a tree that leaves no processor to others is dead before the lease's end" {
    local end busy='trap "" TERM; touch in; until test -e go; do sleep 0.01; done
        for i in $(seq 40); do (while :; do :; done) & done
        exec nice -n -20 "$SECTION" --log history --beat beat --ignore-term --until never'
    chrt --rr 1 true 2>/dev/null || skip "needs the right to real-time scheduling"
    export SECTION
    for _ in 1 2 3; do
        rm -f beat in go
        start run -n x -l "$(ms 400)" --no-renew -- sh -c "$busy"
        wait_until 10 test -e in
        end=$(expiry x)
        : >go
        reaps 76 "$pid"
        assert_dead_before "$end" 1000
    done
}

@test "a command that ignores SIGTERM has --kill-after, and is dead before the lease's end" {
    local end
    proxy_start
    start run -n x -l "$(ms 1800)" --kill-after "$(ms 500)" -- \
        "$SECTION" --log history --beat beat --ignore-term --until let-go
    holder=$pid
    wait_until 10 test -s history
    proxy refuse
    end=$(expiry x)
    assert_lost
    assert_dead_before "$end" 300
    (($(beat beat) - $(termed history) > 400000000 * SLOW)) || fail "less than --kill-after"
    (($(beat beat) - $(termed history) < 800000000 * SLOW)) || fail "more than --kill-after"
}

@test "--on-lost warn: the command goes on to its end; 76 all the same" {
    protected --on-lost warn -l "$(ms 600)"
    redis DEL x
    wait_until 5 test -s err
    stderr=$(cat err)
    assert_message
    assert_stderr_has x
    alive_for 600
    : >let-go
    reaps 76 "$holder"
    assert_regex "$(cat history)" 'exit=[0-9]'
}

@test "--on-lost warn: a later --timeout is told as well, beside the 76" {
    start run -n x --on-lost warn -l "$(ms 600)" --timeout "$(ms 2500)" -- sh -c 'touch in; exec sleep 60'
    wait_until 5 test -e in
    redis DEL x
    reaps 76 "$pid" 10
    assert_regex "$(sed -n 1p err)" 'lost x'
    assert_regex "$(sed -n 2p err)" 'ran longer than --timeout'
    assert_equal "$(wc -l <err)" 2
}

@test "--no-renew --on-lost warn: a command that ends after the lease has lost it, whatever it says of itself" {
    local kind kinds=(run fair read write 'sem --permits 2') pids=()
    for kind in "${kinds[@]}"; do
        # shellcheck disable=SC2086 # words
        log=${kind%% *} start $kind --no-renew --on-lost warn -l "$(ms 300)" -n "${kind%% *}" -- \
            sh -c 'sleep "$0"; echo ran to its end' "$SLOW"
        pids+=("$pid")
    done
    for kind in "${kinds[@]%% *}"; do
        reap "${pids[0]}"
        pids=("${pids[@]:1}")
        assert_equal "$kind: $status $(cat "$kind.out")" "$kind: 76 ran to its end"
        stderr=$(cat "$kind.err")
        assert_message
    done
}

@test "--min-hold counts from when the lock was taken: to be had at once after a longer command; it may be longer than the lease" {
    rlock run -n x --min-hold 100ms -- sleep 0.3
    assert_no_keys
    foreign_hold x 3000
    rlock run -n x -l "$(ms 2000)" --min-hold 60s -- true
    (($(redis PTTL x) > 57500)) || fail "kept for $(redis PTTL x) ms more"
}

@test "the command ended while the lease was sure, the server is gone: its own status, and a warning" {
    proxy_start
    protected -l "$(ms 3000)"
    proxy refuse
    : >let-go
    reaps 5 "$holder" 5
    stderr=$(cat err)
    assert_message
    assert_stderr_has x
}
