#!/usr/bin/env bats
# proc.bats: where the command's processes are found, and where they can't be: chroots, containers, PID
# namespaces, other users' processes, processes that rlock had before.

load ../../lib/rlock

setup() {
    rlock_setup
    export RLOCK
    # Who looks for leaks needs a /proc of its own, and nobody who traces.
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
}

teardown() {
    [[ -z ${dir-} ]] || rm -r "$dir"
    rlock_teardown
}

needs_namespaces() {
    root=()
    ((EUID == 0)) || root=(--map-root-user)
    unshare "${root[@]}" --mount true 2>/dev/null || skip "needs the right to make namespaces"
}

# apart OPTION... -- COMMAND: by sh, in namespaces of its own.
apart() {
    needs_namespaces
    run --separate-stderr timeout -s KILL $((20 * SLOW)) unshare "${root[@]}" "${@:1:$#-2}" sh -c "${!#}"
    printf '%s\n' "status $status" "$stderr"
}

needs_root() {
    ((EUID == 0)) || skip "needs root"
}

assert_refused() { # WORD...
    assert_equal "$status" 71
    assert_message
    assert_stderr_has "$@"
    assert_file_not_exist ran
    assert_equal "$(calls evalsha)" 0
    assert_no_keys
}

@test "no /proc: 71 before anything is taken; what needs no command goes on, and doctor says so" {
    apart --mount -- 'mount -t tmpfs none /proc && exec "$RLOCK" --version'
    [[ $status == 0 && -z $stderr ]] || skip "not for a build with a sanitizer: it needs /proc"
    apart --mount -- 'mount -t tmpfs none /proc && exec "$RLOCK" run -n x -- touch ran'
    assert_refused /proc
    apart --mount -- 'mount -t tmpfs none /proc && "$RLOCK" acquire run -n x && exec "$RLOCK" status x'
    assert_success
    apart --mount -- 'mount -t tmpfs none /proc && exec "$RLOCK" doctor'
    assert_failure 1
    assert_output --partial "there is no /proc"
    try doctor
    assert_output --regexp 'processes .*can be found'
    redis FLUSHALL
}

@test "/proc of another PID namespace, or children in another one: 71 before anything is taken" {
    apart --mount --pid --fork -- 'exec "$RLOCK" run -n x -- touch ran'
    assert_refused namespace
    apart --mount --pid -- 'exec "$RLOCK" run -n x -- touch ran' # sh is the last one outside
    assert_refused namespace
    apart --mount --pid --fork --mount-proc -- '"$RLOCK" run -n x -- touch ran; exit $?'
    assert_success
    assert_file_exist ran
}

@test "a kernel without lists of children: the tree is found and ended all the same" {
    cc -shared -fPIC -D_GNU_SOURCE -o without_lists.so "$TOOLS/without_lists.c" -ldl
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
    LD_PRELOAD=$PWD/without_lists.so start run -n x -l "$(ms 1200)" --kill-after "$(ms 200)" -- \
        env -u LD_PRELOAD "$tree" sh -c 'trap "" TERM; setsid sleep 600 & (setsid sh -c "trap \"\" TERM; sleep 600; :" &)
            echo >ready; while :; do wait; done'
    wait_until 10 test -s ready
    redis DEL x
    reaps 76 "$pid"
    assert_no_processes "$tree"
}

@test "hidepid, for a user who sees nobody else's processes: the tree is ended" {
    needs_root
    open_to_others
    apart --mount -- 'mount -t proc -o hidepid=2,subset=pid proc /proc &&
        exec setpriv --reuid=64321 --regid=64321 --clear-groups "$RLOCK" run -n x --no-renew -l '"$(ms 600)"' -- \
            env '"$tree"' sh -c "trap \"\" TERM; setsid sleep 600 & sleep 600"'
    assert_equal "$status" 76
    assert_message
    assert_no_processes "$tree"
}

# --- before and beside -------------------------------------------------------------------------

# becomes_rlock JOB COMMAND [OPTION...]: a background shell that leaves a job of its own and becomes rlock, with a stack
# of so many KiB where stack says so.
becomes_rlock() {
    local job=$1 command=$2
    shift 2
    JOB=$job env --default-signal=INT,QUIT sh -c 'sh -c "$JOB" & echo $! >job; ${0:+ulimit -s "$0"}; exec "$@"' "${stack-}" \
        "$RLOCK" run -n x "$@" -- env "$tree" sh -c "$command; echo >ready; exec sleep 600" \
        >out 2>err </dev/null 3>&- 4>&- &
    pid=$!
    wait_until 10 test -s ready
}

@test "exec from a script with a job in the background: the command is ended, the job lives on" {
    local expected event stack options strangers
    while IFS='|' read -r expected event stack options; do
        rm -f ready
        [[ -z $stack ]] || ! is_sanitized || continue # which needs more
        # The job has a child, and the command some that left it.
        # shellcheck disable=SC2086
        becomes_rlock 'sleep 600; :' 'setsid sleep 600 & (setsid sh -c "sleep 600; :" &)' $options
        wait_until 5 eval '[[ -n $(children "$(cat job)") ]]'
        strangers=("$(cat job)" "$(children "$(cat job)")")
        eval "$event"
        reap "$pid" 10
        assert_equal "$event: $status" "$event: $expected"
        assert_no_processes "$tree"
        kill -KILL "${strangers[@]}" # they must be there
        redis DEL x
    done <<END
137|kill -KILL "\$(guardian_of "\$pid")"||
137|kill -KILL "\$(guardian_of "\$pid")"|64|
76|redis DEL x||-l $(ms 1500)
76|kill -STOP "\$(guardian_of "\$pid")"||--no-renew -l $(ms 4000)
END
}

@test "exec from a script with a job in the background: what the job leaves to rlock is reaped" {
    becomes_rlock 'while ! [ -e enough ]; do (true &); echo >>left; sleep 0.01; done' :
    : >left
    wait_until 10 sh -c '[ "$(wc -l <left)" -ge 5 ]'
    : >enough
    wait_until 5 eval '[[ $(children "$pid") == "$(guardian_of "$pid")" ]]'
    kill -TERM "$pid"
    reaps 143 "$pid" 5
}

@test "as PID 1: what falls to it is reaped, and a signal is told as 128+N" {
    needs_namespaces
    unshare "${root[@]}" --mount --pid --fork --mount-proc --kill-child "$RLOCK" run -n x -- \
        sh -c '(setsid sh -c "exit 0" &); echo >ready; exec sleep 600' >out 2>err 3>&- 4>&- &
    local outer=$! first
    wait_until 10 test -s ready
    first=$(children "$outer")
    # What docker exec leaves: a process whose parent, not of the tree, has ended.
    nsenter -t "$first" -p sh -c '(exec sleep 0.1 >&- 2>&-) & exit 0' 3>&- 4>&-
    wait_until 5 eval '(($(children "$first" | wc -l) == 1)) && ! in_state "$(children "$first")" Z'
    assert_equal "$(children "$first" | wc -l)" 1
    kill -TERM "$first"
    reaps 143 "$outer"
    assert_no_keys
}

@test "as PID 1: a signal ends also those that only look or wait, 128+N" {
    local number words
    needs_namespaces
    foreign_hold x 60000
    for number in 1 15; do
        for words in 'wait x' 'status --watch x'; do
            # shellcheck disable=SC2086 # words
            unshare "${root[@]}" --mount --pid --fork --mount-proc --kill-child "$RLOCK" $words >out 2>err 3>&- 4>&- &
            wait_until 10 grep -q x out err
            kill "-$number" "$(children "$!")"
            reaps $((128 + number)) "$!"
        done
    done
}

# --- what can't be ended ------------------------------------------------------------------------

# asked_in_vain: a waiter asks it to end, and does not get in.
asked_in_vain() {
    run -75 rlock run -n x --preempt -w "$(ms 1500)" -- touch ran
    assert_file_not_exist ran
}

@test "a process of the command's is another user's, and cannot be ended: 76, and the lock is kept for its sake" {
    local command event why options
    needs_root
    open_to_others
    dir=$(mktemp -d /var/tmp/rlock-test.XXXXXX)
    chmod 755 "$dir"
    install -m 4755 "$(command -v setpriv)" "$dir/become-root"
    [[ $(setpriv --reuid=64321 --clear-groups "$dir/become-root" --reuid=0 id -u) == 0 ]] || skip "needs the right to become root (nosuid)"
    while IFS='|' read -r event why options; do
        # shellcheck disable=SC2086
        setpriv --reuid=64321 --regid=64321 --clear-groups "$RLOCK" run -n x -l 30s $options -- \
            "$dir/become-root" --reuid=0 sleep 600 >out 2>err </dev/null 3>&- 4>&- &
        pid=$!
        # The kernel's list may be short of one child while another ends.
        wait_until 10 eval 'command=$(command_of "$pid") && [[ $(ps -o ruid=,comm= -p "$command" | xargs) == "0 sleep" ]]'
        eval "$event"
        reap "$pid" 10
        assert_equal "$event: $status" "$event: 76"
        ! ended "$command" || fail "the command is gone"
        assert_held x
        grep -q "cannot stop all processes" err
        grep -q "^rlock: lost x on .*: $why$" err
        kill -KILL "$command"
        redis DEL x
    done <<END
kill -KILL "\$(guardian_of "\$pid")"|.*|
true|--timeout could not end the command|--timeout $(ms 2000) --kill-after 100ms
asked_in_vain|the command could not be ended for a waiter|--preemptible --kill-after 100ms
END
}

@test "the guardian is stopped, and hears of no signal or order: rlock stands in for it all the same" {
    local guardian n expected options
    while read -r expected options; do
        rm -f ready
        # shellcheck disable=SC2086
        start run -n x $options -- env "$tree" sh -c 'trap "" USR1 USR2; echo >ready; sleep 600; :'
        wait_until 10 test -s ready
        guardian=$(children "$pid")
        kill -STOP "$guardian"
        python3 -c 'import os, signal, sys, time
for n in range(600):
    os.kill(int(sys.argv[1]), signal.SIGUSR1 if n % 2 else signal.SIGUSR2)
    time.sleep(0.0003)' "$pid"
        [[ $expected != 79 ]] || rlock fair --preempt -w 60s -n x -- true
        reap "$pid" 10
        assert_equal "$options: $status" "$options: $expected"
        assert_no_processes "$tree"
    done <<END
76 --no-renew -l $(ms 4000)
79 --preemptible -l 10m
124 --timeout $(ms 2000)
END
}

@test "rlock and what is called like it are killed by name or words: nothing of the command lives on" {
    local guardian
    start run -n "by-$TEST_MARK" -- env "$tree" sh -c '(setsid sleep 600 &); echo >ready; sleep 600; :'
    wait_until 10 test -s ready
    guardian=$(children "$pid")
    [[ $(cat "/proc/$guardian/comm") != *rlock* ]]
    wait_until 5 pgrep -x -P "$guardian" lock-witness
    pkill -KILL -f "rlock run -n by-$TEST_MARK"
    wait_until 2 none_marked "$tree"
    reap "$pid"
}

@test "close_range(2) is refused: the keeper and the guardian hold nothing of the caller's" {
    local error
    command -v strace >/dev/null || skip "needs strace"
    for error in ENOSYS EPERM; do
        exec 9>locked
        flock 9
        strace -f -D -qq -o trace -e trace=close_range -e "inject=close_range:error=$error" \
            "$RLOCK" run -n x -- sh -c 'exec 9>&-; echo >ready; $SECTION --until let-go' 3>&- 4>&- &
        pid=$!
        wait_until 10 test -s ready
        exec 9>&-
        grep -q "$error" trace
        # rlock itself has it open, as it should; of the two others none.
        assert_equal "$(readlink /proc/"$(children "$pid")"/fd/* | grep -c locked)" 0
        : >let-go
        reap "$pid"
        rm ready let-go
    done
}

@test "no thread for renewals: 71, the command is not started, and the lock is given back" {
    needs_root
    no_thread_of_a_sanitizer
    open_to_others
    run --separate-stderr timeout -s KILL $((20 * SLOW)) \
        setpriv --reuid=64329 --regid=64329 --clear-groups prlimit --nproc=2 "$RLOCK" run -n x -- touch ran
    assert_equal "$status: $stderr" \
        '71: rlock: cannot keep x: cannot start the thread that renews: Resource temporarily unavailable'
    assert_file_not_exist ran
    assert_no_keys
}

@test "exec is slow, and rlock is killed, or stopped beyond the lease, meanwhile: the command never runs" {
    command -v strace >/dev/null || skip "needs strace"
    local signal
    for signal in KILL STOP; do
        rlock run -n x -- true # the server knows the scripts now
        redis CONFIG RESETSTAT
        # The command takes longer than the lease to start; the guardian, slow as well, sees it late.
        strace -D -f -qq -o trace -e trace=execve,setsid -e inject=execve:delay_enter=2500000:when=1 \
            -e inject=setsid:delay_enter=300000 "$RLOCK" run -n x -l 2s -- touch ran 2>err 3>&- 4>&- &
        pid=$!
        wait_until 10 eval '(($(calls evalsha) >= 1))'
        wait_until 10 grandchild
        kill "-$signal" "$pid"
        if [[ $signal == STOP ]]; then
            wait_until 10 eval '! grandchild'
            kill -CONT "$pid"
        fi
        reaps "$([[ $signal == KILL ]] && echo 137 || echo 76)" "$pid"
        wait_until 10 none_marked "TEST_MARK=$TEST_MARK"
        assert_file_not_exist ran
        redis DEL x
    done
}

grandchild() {
    [[ -n $(children "$(guardian_of "$pid")") ]] # it has the guardian's name still
}
