#!/usr/bin/env bats
# limits.bats: a system that refuses what rlock needs, from the start or since the command has used it up: the
# command is not started, or it is protected, and ended in time, all the same.

load ../../lib/rlock

# A command that has a child in another session, and both ignore SIGTERM.
family='trap "" TERM; setsid sh -c "trap \"\" TERM; : >ready; sleep 600; sleep 600" & while :; do wait; done'

needs_little() {
    ! is_sanitized || skip 'not for a build with a sanitizer: it needs more'
}

# --- small stacks --------------------------------------------------------------------------------

@test "a small stack: --timeout, a break and a lost lease end the whole tree" {
    local kib
    needs_little
    for kib in 64 256; do
        (ulimit -s "$kib" && exec timeout 60 "$RLOCK" run -n x -l "$(ms 3000)" --timeout "$(ms 300)" --kill-after 200ms -- \
            env "$tree" sh -c "$family") && status=0 || status=$?
        assert_equal "$kib: $status" "$kib: 124"
        assert_no_processes "$tree"
        for end in 'rlock break --force x' 'redis DEL x'; do
            rm -f ready
            (ulimit -s "$kib" && exec "$RLOCK" run -n x -l "$(ms 1500)" --kill-after 200ms -- \
                env "$tree" sh -c "$family") 3>&- 4>&- &
            pid=$!
            wait_until 10 test -e ready
            $end
            reap "$pid"
            assert_equal "$kib, $end: $status" "$kib, $end: 76"
            assert_no_processes "$tree"
        done
    done
}

# --- memory --------------------------------------------------------------------------------------

@test "too little address space for a command: 71, and nothing is taken" {
    local kib verb
    needs_little
    for kib in $(seq 3000 100 5500); do
        for verb in run 'latch down'; do
            # shellcheck disable=SC2086
            (ulimit -c 0 -v "$kib" && exec "$RLOCK" $verb -q -n x -- /bin/true 2>err) && status=0 || status=$?
            [[ $status != 127 ]] || continue # the loader's
            [[ $status == 0 || $status == 71 ]] || fail "$verb, $kib KiB: $status $(cat err)"
            cat err >>all
            assert_no_keys
        done
    done
    grep -q '^rlock: cannot start /bin/true: Cannot allocate memory$' all
}

# --- no signal may be queued -----------------------------------------------------------------------

# Who opens a file that somebody has leased for writing (fcntl(2), F_SETLEASE), to execute it, too, waits.
@test "RLIMIT_SIGPENDING 0: an exec that hangs is ended by the guardian, at the lease's end, too" {
    local limit
    cp /bin/true slow
    helper python3 -c 'import fcntl, os, signal, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = os.open("slow", os.O_RDWR)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
open("leased", "w").close()
time.sleep(600)'
    wait_until 10 test -e leased
    for limit in 1000 0; do
        took 300 2000 timeout 60 prlimit --sigpending="$limit" "$RLOCK" run -n x --timeout 300ms --kill-after 100ms -- ./slow
        assert_equal "$limit: $status" "$limit: 124"
        took 500 $((900 * SLOW + 2100)) timeout 60 prlimit --sigpending="$limit" "$RLOCK" run -n x -l "$(ms 900)" --no-renew -- ./slow
        assert_equal "$limit: $status" "$limit: 76"
    done
}

@test "RLIMIT_SIGPENDING 0: a signal to the group is heard once, and the next one to rlock alone, too" {
    cat >job <<-'EOS'
	trap 'echo >>heard' USR1
	: >ready
	until [ -e over ]; do sleep 0.01; done
	EOS
    log=rlock setsid prlimit --sigpending=0 "$RLOCK" run -n x -- sh job 3>&- 4>&- &
    pid=$!
    wait_until 10 test -e ready
    for times in 1 2 3; do
        wait_until 5 pgrep -x -g "$pid" lock-witness
        kill -USR1 "$([[ $times == 1 ]] && echo "-$pid" || echo "$pid")"
        wait_until 5 eval '[[ $(wc -l <heard) == "$times" ]]'
    done
    : >over
    reaps 0 "$pid"
    assert_equal "$(wc -l <heard)" 3
}

# --- what the command may use up -----------------------------------------------------------------

@test "few descriptors: 71 before anything runs, or the lock is kept to the command's end" {
    local n refused="" kept=""
    for n in {5..20}; do
        rm -f ran
        run --separate-stderr bash -c 'exec 3>&- 4>&-; ulimit -n "$1"; exec "$2" run -n x -l "$3" -- sh -c "sleep $4; : >ran"' \
            bash "$n" "$RLOCK" "$(ms 600)" "$SLOW"
        case $status in
            0) assert_file_exist ran; kept=$n; break ;;
            71) assert_file_not_exist ran; refused=$n; assert_stderr_has 'Too many open files' ;;
            *) fail "$n descriptors: status $status: $stderr" ;;
        esac
        assert_no_keys
    done
    [[ -n $refused && -n $kept ]]
    run --separate-stderr bash -c 'exec 3>&- 4>&-; ulimit -n "$1"; exec "$2" acquire run -n x --while $PPID' \
        bash 9 "$RLOCK"
    assert_equal "$status" 71
    assert_no_keys
}

# The library's thread cannot be refused any more when it is needed.
@test "the command uses up all processes that its user may have: the lock is kept to its end" {
    ((EUID == 0)) || skip 'needs root'
    no_thread_of_a_sanitizer
    cat >hog <<-'EOS'
	import os, time
	children = []
	try:
	    while len(children) < 100:
	        children.append(os.fork())
	        if children[-1] == 0:
	            time.sleep(600)
	except OSError:
	    open("full", "w").write("full")
	time.sleep(float(os.environ["STAY"]))
	for child in children:
	    os.kill(child, 9)
	EOS
    chmod 777 .
    open_to_others
    run --separate-stderr timeout -s KILL $((60 * SLOW)) setpriv --reuid=64333 --regid=64333 --clear-groups \
        prlimit --nproc=16 env STAY="$((2 * SLOW))" "$RLOCK" run -n x -l "$(ms 900)" -- python3 hog
    assert_equal "$status: $stderr" "0: "
    assert_file_exist full
    assert_no_keys
}
