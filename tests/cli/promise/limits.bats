#!/usr/bin/env bats
# limits.bats: a system that refuses what rlock needs, from the start or since the command has used it up: the
# command is not started, or it is protected, and ended in time, all the same.

load ../../lib/rlock

setup() {
    rlock_setup
    tree=TREE=$TEST_MARK
}

# A command that has a child in another session, and both ignore SIGTERM.
family='trap "" TERM; setsid sh -c "trap \"\" TERM; : >ready; sleep 600; sleep 600" & while :; do wait; done'

# Sanitizers need more address space and stack than these tests leave.
needs_little() {
    ! ldd "$RLOCK" | grep -qE 'lib(asan|tsan)' || skip 'a sanitizer needs more'
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

@test "a small stack: rlock ends the tree in its guardian's stead, and leaves a script's old job alone" {
    needs_little
    cat >script <<-'EOS'
	env "$OTHER" sleep 600 &
	ulimit -s 64
	exec "$RLOCK" run -n x -- env "$tree" sh -c "$family"
	EOS
    OTHER=OTHER=$TEST_MARK RLOCK=$RLOCK tree=$tree family=$family sh script 3>&- 4>&- &
    pid=$!
    wait_until 10 test -e ready
    kill -KILL "$(guardian_of "$pid")"
    reap "$pid"
    assert_equal "$status" 137
    assert_no_processes "$tree"
    assert_equal "$(marked "OTHER=$TEST_MARK" | wc -l)" 1
    kill_marked "OTHER=$TEST_MARK"
}

# --- memory --------------------------------------------------------------------------------------

@test "too little address space for a command: 71, and nothing is taken" {
    local kib seen=
    needs_little
    for kib in $(seq 3000 100 5500); do
        (ulimit -c 0 -v "$kib" && exec "$RLOCK" run -n x -- /bin/true 2>err) && status=0 || status=$?
        [[ $status != 127 ]] || continue # the loader's
        [[ $status == 0 || $status == 71 ]] || fail "$kib KiB: $status $(cat err)"
        ((status == 0)) || seen=$kib
        assert_no_keys
    done
    [[ -n $seen ]] || fail 'memory was never refused'
    (ulimit -c 0 -v "$seen" && exec "$RLOCK" latch down -n l -- /bin/true 2>err) && status=0 || status=$?
    assert_equal "$status" 71
    assert_equal "$(cat err)" 'rlock: cannot start /bin/true: Cannot allocate memory'
}
