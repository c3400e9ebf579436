#!/usr/bin/env bats
# tree.bats: when the lease is lost, or rlock itself is stopped or killed, no process that the command
# started lives on.

load ../../lib/rlock

setup() {
    rlock_setup
    cat >family <<'EOS'
        trap '' TERM
        setsid sleep 600 &
        (setsid sleep 600 &)
        nohup sleep 600 >/dev/null 2>&1 &
        (sh -c 'trap "" TERM HUP; setsid sh -c "trap \"\" TERM; sleep 600; sleep 600" & exec sleep 600' &)
        "$SECTION" --log history --beat beat --ignore-term --until never &
        while :; do wait; done
EOS
}

# family OPTION...: a background rlock whose command has children that left its session, its process
# group or its parent, and that ignore SIGTERM. pid is its rlock.
family() {
    start run -n x "$@" -- env "$tree" SECTION="$SECTION" sh family
    wait_until 10 family_complete
}

family_complete() {
    [[ -s history ]] && counts 8
}

counts() { # N
    (($(marked "$tree" | wc -l) >= $1))
}

@test "the guardian is not ended for want of memory, and the command is as it would be" {
    (echo -1000 >/proc/self/oom_score_adj) 2>/dev/null || skip "not for a machine without CAP_SYS_RESOURCE"
    start run -n x -- sleep 600
    wait_until 5 eval '[[ $(cat "/proc/$(guardian_of "$pid")/oom_score_adj") == -1000 ]]'
    assert_equal "$(cat "/proc/$(command_of "$pid")/oom_score_adj")" "$(cat /proc/$$/oom_score_adj)"
    kill "$pid"
    reaps 143 "$pid"
}

# PID 1 of a container waits for its own children alone.
@test "no process of rlock's is left to whoever adopts orphans" {
    run -0 python3 -c 'import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) # PR_SET_CHILD_SUBREAPER
for command in ["true"] * 20 + ["kill -KILL $PPID; sleep 60"]:
    subprocess.call([*sys.argv[1:], command])
while True: # what is left, until there is no child
    try:
        print(os.waitpid(-1, 0))
    except ChildProcessError:
        break' "$RLOCK" run -q -n x -c
    refute_output --partial '('
}

@test "a lost lease: who left by setsid, double fork or nohup, or goes on multiplying, or is an orphan, is dead when rlock ends" {
    local number command
    while IFS='|' read -r number command; do
        start run -n x -l "$(ms 1200)" --kill-after "$(ms 200)" -- env "$tree" SECTION="$SECTION" sh -c "$command"
        wait_until 10 counts "$number"
        redis DEL x
        reap "$pid"
        assert_equal "$command: $status" "$command: 76"
        assert_no_processes "$tree"
    done <<'END'
8|exec sh family
10|trap "" TERM; while :; do setsid sh -c "trap \"\" TERM; sleep 600" & sleep 0.02; done
3|(setsid sh -c "trap \"\" TERM; sleep 600; sleep 600" &); exec sleep 600
END
}

@test "a grandchild that is stopped goes on, and ends as its SIGTERM tells it to: the lease is lost, --timeout" {
    local expected options event
    cat >grandchild <<'EOS'
        trap 'echo >orderly; exit' TERM
        echo $$ >stopped
        kill -STOP $$
        while :; do sleep 0.1; done
EOS
    while read -r expected event options; do
        rm -f stopped orderly
        # shellcheck disable=SC2086
        start run $options -n x -- env "$tree" sh -c 'sh grandchild & wait'
        wait_until 10 eval '[[ -s stopped ]] && in_state "$(cat stopped)" T'
        [[ $event == time ]] || redis DEL x
        reap "$pid"
        assert_equal "$event: $status" "$event: $expected"
        assert_file_exist orderly
        assert_no_processes "$tree"
    done <<END
76 loss -l $(ms 6000)
124 time --timeout $(ms 1500)
END
}

# Whoever is listed has forked and gone by the time that he is to be killed.
@test "a chain of forks, each of which lives for a moment, is dead before the lease's end" {
    local end
    proxy_start
    start run -n x -l "$(ms 1800)" -- env "$tree" sh -c \
        '"$0" --log history --beat beat --ignore-term --chain --until never & exec sleep 600' "$SECTION"
    wait_until 10 test -s history
    proxy hang
    end=$(expiry x)
    reaps 76 "$pid"
    assert_no_processes "$tree"
    (($(beat beat) < end)) || fail "alive $((($(beat beat) - end) / 1000000)) ms too long"
    (($(beat beat) > end - 1500000000 * SLOW)) || fail "it was not alive"
}

@test "rlock is killed as the command starts, before its guardian is back from that: no child lives on" {
    command -v strace >/dev/null || skip "needs strace"
    strace -D -f -qq -o trace -e trace=vfork -e inject=vfork:delay_exit=1000000 "$RLOCK" run -n x -- \
        env "$tree" sh -c 'sleep 600 & sleep 600 & wait' 3>&- 4>&- &
    pid=$!
    wait_until 10 counts 3
    kill -KILL "$pid"
    wait_until 10 none_marked "$tree"
}

@test "where it may, the guardian, and rlock in its stead, runs before all that is ordinary; command and witness are ordinary" {
    chrt --rr 1 true 2>/dev/null || skip "needs the right to real-time scheduling"
    command -v strace >/dev/null || skip "needs strace"
    strace -D -qq -o trace -e trace=pidfd_open -e inject=pidfd_open:delay_enter=2000000 \
        "$RLOCK" run -n x -- nice -n 3 sh -c 'sleep 600 & wait' 3>&- 4>&- & # who is left when its guardian is killed
    pid=$!
    wait_until 10 eval 'pgrep -P "$(guardian_of "$pid")" -x lock-witness'
    wait_until 10 is_urgent "$(guardian_of "$pid")"
    run ps -o cls= --ppid "$(guardian_of "$pid")"
    refute_output --partial RR
    assert_equal "$(ps -o ni= -p "$(command_of "$pid")" | tr -d ' ')" $(($(nice) + 3))
    assert_equal "$(ps -o cls= -p "$pid" | tr -d ' ')" TS
    kill -KILL "$(guardian_of "$pid")"
    wait_until 10 is_urgent "$pid"
    reaps 137 "$pid"
}

is_urgent() { # PID
    [[ $(ps -o cls= -p "$1") == *RR ]]
}

@test "started as real-time, the guardian is above the command; where real-time has a limit, it is ordinary" {
    chrt --rr 1 true 2>/dev/null || skip "needs the right to real-time scheduling"
    chrt --fifo 50 "$RLOCK" run -n x -- sleep 600 3>&- 4>&- &
    pid=$!
    wait_until 10 has_priority "$pid" RR 51
    kill "$pid"
    reaps 143 "$pid"
    prlimit --rttime=50000 "$RLOCK" run -n x -- sleep 600 3>&- 4>&- &
    pid=$!
    wait_until 10 has_priority "$pid" TS -
    kill "$pid"
    reaps 143 "$pid"
}

has_priority() { # PID CLASS PRIORITY: as its guardian has it, whose nice value is set before
    [[ $(ps -o ni=,cls=,rtprio= -p "$(guardian_of "$1")" | xargs) =~ ^(-|-10)\ $2\ $3$ ]]
}

# The kernel spins for who looks at the dead: a second, in which no other process ran on that processor.
@test "a command of many threads ends while others look into /proc: the guardian lets these run" {
    local looker
    chrt --rr 1 true 2>/dev/null || skip "needs the right to real-time scheduling"
    cat >look <<'EOS'
import glob
while True:
    for name in glob.iglob("/proc/[0-9]*/task/*/stat"):
        try:
            open(name, "rb").close()
        except OSError:
            pass
EOS
    cat >ends <<'EOS'
import os, subprocess, sys
command = """import os, threading, time
for _ in range(50):
    threading.Thread(target=time.sleep, args=(60,)).start()
os._exit(0)"""
for _ in range(4):
    runs = [subprocess.Popen([*sys.argv[1:], name, "--", sys.executable, "-c", command]) for name in "xyz"]
    used = [os.wait4(run.pid, 0)[2].ru_stime for run in runs] # rlock's, its guardian's and the command's
    assert max(used) < 0.4, used
EOS
    for looker in 1 2 3; do
        helper python3 look
    done
    run -0 python3 ends "$RLOCK" run -n
}

@test "SIGKILL of rlock, or of its guardian, in a session of its own: the command ends at once, the lock with its lease, or now" {
    local lease killed guardian
    while read -r lease killed; do
        rm -f history
        family -l "$lease"
        guardian=$(children "$pid")
        assert_equal "$(session "$guardian")" "$guardian"
        assert_equal "$(session "$(sed -n '1s/.*pid=//p' history)")" "$(session "$pid")"
        kill -KILL "${!killed}"
        reap "$pid" 5
        assert_equal "$killed: $status" "$killed: 137"
        if [[ $killed == pid ]]; then
            wait_until 1 none_marked "TEST_MARK=$TEST_MARK"
            wait_until 4 assert_free x
        fi
        assert_no_processes "TEST_MARK=$TEST_MARK"
        assert_no_keys
    done <<END
$(ms 3000) pid
30s guardian
END
    stderr=$(cat err)
    assert_message
}

@test "rlock is stopped and its guardian is killed: the command does not live on unguarded" {
    start run -n x -- env "$tree" sleep 600
    wait_until 10 counts 1
    kill -STOP "$pid"
    wait_until 5 in_state "$pid" T
    kill -KILL "$(guardian_of "$pid")"
    wait_until 5 none_marked "$tree"
    in_state "$pid" T || fail "it was rlock that ended the command"
    kill -CONT "$pid"
    reaps 137 "$pid"
}

@test "SIGSTOP of rlock for longer than the lease: the family is dead before the key expires" {
    local end
    family -l "$(ms 1800)"
    kill -STOP "$pid"
    end=$(expiry x)
    wait_until 5 none_marked "$tree"
    (($(beat beat) < end)) || fail "alive $((($(beat beat) - end) / 1000000)) ms too long"
    in_state "$pid" T
    kill -CONT "$pid"
    reaps 76 "$pid"
    stderr=$(cat err)
    assert_message
}

@test "Ctrl-Z for longer than the lease: the stopped command is killed all the same; fg: 76" {
    run python3 "$TOOLS/terminal.py" file=history 'keys=^Z' stopped \
        'sh=! grep -qs "^State:.[RSDT]" /proc/$(sed -n "1s/.*pid=//p" history)/status' \
        'sh=grep -q "^State:.T" /proc/$JOB/status' fg -- \
        "$RLOCK" run -n x -l "$(ms 1200)" -- "$SECTION" --log history --until never
    assert_failure 76
}

@test "orphans of the command end all the time: the guardian leaves its job all the same" {
    start run -n x -- env "$tree" sh -c 'while :; do (true &); done'
    wait_until 10 eval 'guardian=$(guardian_of "$pid") && [[ $(session "$guardian") == "$guardian" ]]'
    kill -TERM "$pid"
    reaps 143 "$pid"
}

@test "SIGKILL of the whole process group: nothing lives on" {
    setsid --wait env "$RLOCK" run -n x -- env "$tree" SECTION="$SECTION" sh family >out 2>err 3>&- 4>&- &
    pid=$!
    wait_until 10 family_complete
    kill -KILL "-$pid"
    wait_until 2 none_marked "$tree"
}

# Else a SIGKILL of the group in that time would spare what has left it. The best of ten, on a busy machine.
@test "the guardian leaves the job at once" {
    local n least
    ! is_sanitized || skip 'not for a build with a sanitizer: it takes longer to fork'
    cat >left.c <<-'END'
	#define _GNU_SOURCE
	#include <stdio.h>
	#include <time.h>
	#include <unistd.h>
	static long now_us(void) {
	    struct timespec now;
	    clock_gettime(CLOCK_MONOTONIC, &now);
	    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
	}
	int main(void) {
	    const long begun_us = now_us();
	    while (getsid(getppid()) == getsid(0) && now_us() < begun_us + 1000000)
	        ;
	    return printf("%ld\n", now_us() - begun_us) < 0;
	}
	END
    cc -O1 -o left left.c
    least=$(for n in {1..10}; do rlock run -n x -- ./left; done | sort -n | head -n 1)
    ((least < 3000)) || fail "$least us"
}
