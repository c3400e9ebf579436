#!/usr/bin/env bats
# job_control.bats: the table of rlock(7), SIGNALS AND JOB CONTROL: each signal, by whom it was sent, and
# what the command gets, hears and ends by: on a terminal, side by side with the command run plainly, and
# under timeout --foreground where that does the same.

load ../../lib/rlock

setup_file() {
    cc -D_GNU_SOURCE -O2 -o "$BATS_FILE_TMPDIR/hearer" "$TOOLS/hearer.c"
    rlock_setup_file
}

setup() {
    rlock_setup
    hearer=$BATS_FILE_TMPDIR/hearer
    plainly=()
    timeout=(timeout --foreground 60)
    locked=("$RLOCK" run -n x --)
}

# outcome RUNNER [STEP...] -- CMD...: what became of it on a terminal, by that runner (an array's name), and
# what hearers among it heard, goes to RUNNER.outcome. The steps see the command's number as $CMD, the
# job's as $JOB.
outcome() {
    local -n runner=$1
    local name=$1 steps=() option=()
    shift
    [[ $1 != --?* ]] || { option=("$1"); shift; }
    while [[ $1 != -- ]]; do
        steps+=("${1//\$CMD/\$(cat heard.ready)}")
        shift
    done
    shift
    rm -f heard heard.ready heard.end reports
    TERMINAL_REPORTS=reports python3 "$TOOLS/terminal.py" --timeout $((20 * SLOW)) "${option[@]}" \
        "${steps[@]}" -- "${runner[@]}" "$@" >shown 2>failed || true
    cat failed >&2
    { cat reports; touch heard; cat heard; } >"$name.outcome"
}

# becomes LINE,... RUNNER,... [STEP...] -- CMD...: that is its outcome by each of these runners, and no key is left.
becomes() {
    local expected=$1 name names
    IFS=, read -ra names <<<"$2"
    shift 2
    for name in "${names[@]}"; do
        outcome "$name" "$@"
        assert_equal "$name: $(paste -sd , "$name.outcome")" "$name: $expected"
    done
    assert_no_keys
}

end='sh=touch heard.end'

# shellcheck disable=SC1003 # these are keys
@test "the terminal's keys: heard once, ignored, or the end of the job" {
    becomes "exit 6,INT,QUIT" plainly,locked file=heard.ready 'keys=^C' 'sh=grep -q INT heard' 'keys=^\' \
        'sh=grep -q QUIT heard' 'sh=sleep 0.1' "$end" -- "$hearer" heard INT QUIT
    # What the keys sent is over: the next one is for rlock alone.
    becomes "exit 6,INT,INT" plainly,locked file=heard.ready 'sh=sleep 0.1' 'keys=^C' 'sh=grep -q INT heard' \
        'sh=sleep 0.1' 'sh=kill -INT $JOB' 'sh=[ $(grep -c INT heard) = 2 ]' "$end" -- "$hearer" heard INT
    becomes "exit 6" plainly,timeout,locked file=heard.ready 'keys=^C' 'sh=sleep 0.1' "$end" -- "$hearer" heard -INT
    becomes "signal 2" plainly,locked file=heard.ready 'keys=^C' -- "$hearer" heard
    (ulimit -c 0; becomes "signal 3" plainly,locked file=heard.ready 'keys=^\' -- "$hearer" heard)
}

@test "Ctrl-Z, fg, bg, and again: the job stops by SIGTSTP and goes on, SIGCONT is heard once" {
    becomes "stopped 20,exit 6,CONT" plainly,timeout,locked file=heard.ready 'sh=sleep 0.05' 'keys=^Z' stopped \
        'sh=grep -q "^State:.T" /proc/$CMD/status' fg 'sh=grep -q CONT heard' 'sh=sleep 0.1' "$end" -- "$hearer" heard CONT
    becomes "stopped 20,stopped 20,exit 6,CONT,CONT" plainly,locked file=heard.ready 'sh=sleep 0.05' 'keys=^Z' stopped bg \
        'sh=grep -q CONT heard' 'sh=kill -TSTP -$JOB' stopped fg 'sh=[ $(grep -c CONT heard) = 2 ]' 'sh=sleep 0.1' "$end" -- \
        "$hearer" heard CONT
}

@test "a command that takes or ignores SIGTSTP is not stopped by Ctrl-Z, nor is rlock" {
    becomes "exit 6" plainly,locked file=heard.ready 'keys=^Z' 'sh=sleep 0.1' "$end" -- "$hearer" heard -TSTP
    becomes "exit 6,TSTP" plainly,locked file=heard.ready 'sh=sleep 0.05' 'keys=^Z' 'sh=grep -q TSTP heard' \
        'sh=sleep 0.1' "$end" -- "$hearer" heard TSTP
}

@test "a command that stops itself, as editors do, gives the terminal back" {
    becomes "stopped 20,exit 6,back" plainly,locked stopped fg 'sh=grep -q back heard' "$end" -- "$hearer" heard stop=TSTP
    becomes "stopped 19,exit 6,back" plainly,locked stopped fg 'sh=grep -q back heard' "$end" -- "$hearer" heard stop=STOP
}

@test "a command that reads the terminal in the background stops the job by SIGTTIN" {
    becomes "stopped 21,exit 0" plainly,locked --background stopped fg $'keys=word\n' 'expect=read word' -- \
        sh -c 'read -r line; echo "read $line"'
}

@test "no shell to continue the job (ssh -t, xterm -e): Ctrl-Z stops nobody" {
    becomes "exit 6" plainly,timeout,locked --leader file=heard.ready 'keys=^Z' 'sh=sleep 0.2' \
        'sh=! grep -q "^State:.T" /proc/$CMD/status /proc/$JOB/status' "$end" -- "$hearer" heard
}

@test "a signal to the job's process alone is heard once; so is one to its whole group" {
    local signal steps=(file=heard.ready 'sh=sleep 0.1') heard=()
    local numbers=([1]=HUP INT QUIT [6]=ABRT [10]=USR1 [12]=USR2 [14]=ALRM TERM STKFLT [18]=CONT [23]=URG XCPU
        [26]=VTALRM PROF WINCH POLL PWR [34]=RTMIN+0 [37]=RTMIN+3 [64]=RTMIN+30)
    # The next one comes when all have taken this one: two that wait at once are one, as the kernel has it.
    cat >thrice <<'EOS'
pending() {
    for pid in "$JOB" $(pgrep -x -g "$JOB" lock-witness); do
        ! grep -q '^ShdPnd:.*[1-9a-f]' "/proc/$pid/status" || return 0
    done
    return 1
}
for times in 1 2 3; do
    kill "-$2" "$([ "$times" = 2 ] && echo "-$JOB" || echo "$JOB")"
    n=0; while pending || [ "$(grep -cx "$1" heard)" -lt "$times" ]; do n=$((n + 1)); [ $n -lt 2000 ] || exit 0; sleep 0.01; done
done
EOS
    for signal in "${!numbers[@]}"; do
        steps+=("sh=sh thrice ${numbers[signal]} $signal")
        heard+=("${numbers[signal]}" "${numbers[signal]}" "${numbers[signal]}")
    done
    becomes "exit 6$(printf ',%s' "${heard[@]}")" plainly,locked "${steps[@]}" 'sh=sleep 0.2' "$end" -- \
        "$hearer" heard "${numbers[@]}"
}

@test "a command that has left the group, as timeout(1) does, hears what the group hears, once" {
    local aside=(python3 -c 'import os, sys
os.setpgid(0, 0)
os.execvp(sys.argv[1], sys.argv[1:])')
    becomes "exit 6,INT,TERM,INT" locked file=heard.ready 'sh=sleep 0.1' 'keys=^C' 'sh=grep -q INT heard' 'sh=sleep 0.1' \
        'sh=kill -TERM -$JOB' 'sh=grep -q TERM heard' 'sh=sleep 0.1' 'sh=kill -INT $JOB' \
        'sh=[ $(grep -c INT heard) = 2 ]' 'sh=sleep 0.1' "$end" -- "${aside[@]}" "$hearer" heard INT TERM
}

@test "a key before the command is there ends it; a signal to the group before there is a witness is heard once" {
    local late=(env LD_PRELOAD="$PWD/late.so" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0")
    local before=("${late[@]}" LATE=timer_create "${locked[@]}") with=("${late[@]}" LATE=pipe2 "${locked[@]}")
    no_thread_of_a_sanitizer
    cc -shared -fPIC -D_GNU_SOURCE -o late.so "$TOOLS/late.c" -ldl
    becomes "signal 2" before "sh=redis-cli -s '${RLOCK_SERVER#unix://}' EXISTS x | grep -q 1" 'keys=^C' -- sleep 600
    becomes "exit 6,INT" with file=heard.ready 'sh=kill -INT -$JOB' 'sh=grep -q INT heard' 'sh=sleep 0.6' "$end" -- \
        "$hearer" heard INT
}

@test "a signal to the whole group is heard once in 400 groups, too, which fill pages of /proc" {
    local groups=(python3 -c 'import os, sys
os.setgroups(range(2000000000, 2000000400))
os.execvp(sys.argv[1], sys.argv[1:])')
    local many=("${groups[@]}" "${locked[@]}")
    "${groups[@]}" true 2>/dev/null || skip 'needs the right to set groups'
    becomes "exit 6,INT" many file=heard.ready 'sh=sleep 0.1' 'sh=kill -INT -$JOB' 'sh=grep -q INT heard' \
        'sh=sleep 0.2' "$end" -- "$hearer" heard INT
}

@test "a window's new size is heard once; so is a SIGWINCH to rlock alone after it, as containers stop httpd" {
    becomes "exit 6,WINCH,WINCH" plainly,locked file=heard.ready 'sh=sleep 0.1' columns=100 'sh=grep -q WINCH heard' \
        'sh=sleep 0.2' 'sh=kill -WINCH $JOB' 'sh=[ $(grep -c WINCH heard) = 2 ]' 'sh=sleep 0.1' "$end" -- \
        "$hearer" heard WINCH
}

@test "SIGTSTP and SIGSTOP: to rlock alone and to the group" {
    becomes "stopped 20,stopped 19,exit 6" plainly,locked file=heard.ready 'sh=sleep 0.1' 'sh=kill -TSTP $JOB' stopped \
        'sh=grep -q "^State:.T" /proc/$CMD/status' fg 'sh=! grep -q "^State:.T" /proc/$CMD/status' \
        'sh=sleep 0.2' 'sh=kill -STOP -$JOB' stopped fg 'sh=! grep -q "^State:.T" /proc/$CMD/status' "$end" -- "$hearer" heard
}

@test "the command is stopped and continued by others: rlock is, too" {
    becomes "stopped 19,exit 6,CONT" plainly,locked file=heard.ready 'sh=kill -STOP $CMD' stopped 'sh=kill -CONT $CMD' \
        'sh=! grep -q "^State:.T" /proc/$JOB/status' 'sh=grep -q CONT heard' 'sh=sleep 0.1' "$end" -- "$hearer" heard CONT
}

@test "the terminal goes away, rlock leads its session: the command hears SIGHUP once, or ends by it" {
    becomes "exit 6,HUP" plainly,locked --leader file=heard.ready 'sh=sleep 0.1' hangup 'sh=grep -q HUP heard' \
        'sh=sleep 0.1' "$end" -- "$hearer" heard HUP
    becomes "signal 1" plainly,locked --leader file=heard.ready hangup -- "$hearer" heard
}

@test "a timer from before exec(2) is the command's" {
    local alarmed=(perl -e 'alarm 1; exec @ARGV')
    local alarmed_locked=("${alarmed[@]}" "${locked[@]}")
    becomes "exit 6,ALRM" alarmed,alarmed_locked 'sh=grep -q ALRM heard' "$end" -- "$hearer" heard ALRM
    becomes "signal 14" alarmed,alarmed_locked -- "$hearer" heard
}

@test "who ends by a signal makes rlock end by it, without a core; so does a wait; a shell's loop ends with Ctrl-C" {
    local signal
    ulimit -Sc unlimited 2>/dev/null || true
    for signal in 1 2 3 6 9 11 13 15; do
        becomes "signal $signal" locked -- sh -c "kill -$signal \$\$"
    done
    printf 'for round in 1 2 3; do echo round $round; "$@"; done; echo over\n' >loop.sh
    # once STEP WORD...: of three rounds in a shell there is one, which Ctrl-C has ended after that step.
    once() {
        outcome plainly "$1" 'keys=^C' -- bash loop.sh "${@:2}"
        assert_equal "$(grep -ac 'round [0-9]' shown)$(grep -ac over shown || true)" 10
    }
    once file=heard.ready "$hearer" heard
    once file=heard.ready "${locked[@]}" "$hearer" heard
    once 'sh=[ -s ended ] && ! kill -0 $(cat ended)' "${locked[@]}" \
        sh -c "redis-cli -s '${RLOCK_SERVER#unix://}' CLIENT PAUSE 700; echo \$\$ >ended" # while the lock is given back
    foreign_hold x 60000
    once expect=waiting "${locked[@]}" true
    for signal in 1 2 15 30 37; do
        outcome locked expect=waiting "sh=kill -$signal \$JOB" -- true
        assert_equal "$(<locked.outcome)" "signal $signal"
    done
    assert_keys x
}
