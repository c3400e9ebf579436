# rlock.bash: what every test of the command line stands on: a private server, a clean environment,
# waiting for conditions, and the proof at the end of each test that nothing was left behind.
#
# A file of tests says `load ../lib/rlock` and gets setup_file, setup, teardown and teardown_file
# from here. A file with a setup of its own calls rlock_setup in it, and so on.
#
# environment: RLOCK_BIN        the binary (default: build/cmd/rlock)
#              RLOCK_TEST_SLOW  factor for all times that a test sets (sanitizer builds: 5 or so; default 1)
# shellcheck shell=bash

bats_require_minimum_version 1.5.0
# As bats_load_library does, without a process for each file of theirs: every test loads them anew.
for library in "${BATS_LIB_PATH%%:*}"/bats-{support,assert,file}/src/*.bash; do
    source "$library"
done

TESTS=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
PROJECT=${TESTS%/*}
TOOLS=$TESTS/tools
RLOCK=${RLOCK_BIN:-$PROJECT/build/cmd/rlock}
ASK=${RLOCK%/*}/../tests/ask
SCRIPTS=${RLOCK%/*}/../lib/lua # with what they include, as the server gets them
SLOW=${RLOCK_TEST_SLOW:-1}

declare -gA reaped=() # status by pid: see reap

source "$TESTS/lib/server.bash"
source "$TESTS/lib/process.bash"

setup_file() { rlock_setup_file; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }
teardown_file() { rlock_teardown_file; }

# Before each command bats notes where it stands, to say so if it fails; a third of what a test costs. Here it
# does so in the files of tests only, and not in what they call.
trace_tests_only() {
    trap '[[ $BASH_SOURCE == *.bash ]] || bats_debug_trap "$BASH_SOURCE"' DEBUG
}

rlock_setup_file() {
    trace_tests_only
    [[ -x $RLOCK ]] || { echo "no rlock at $RLOCK: build first, or set RLOCK_BIN" >&2; return 1; }
    build_section
    server_start main
}

rlock_teardown_file() {
    server_stop main
}

rlock_setup() {
    trace_tests_only
    clean_environment
    export SECTION=$BATS_FILE_TMPDIR/section # commands stay with it: a shell that waits is a sleep(1) each time
    tree=TREE=$TEST_MARK # in the environment of what a command leaves behind
    PATH=${RLOCK%/*}:$PATH
    redis FLUSHALL >/dev/null
    redis CONFIG RESETSTAT >/dev/null
    cd "$BATS_TEST_TMPDIR" || return
}

# Not the caller's settings, not this machine's files: only what the test says.
clean_environment() {
    local name
    for name in "${!RLOCK_@}"; do
        [[ $name == RLOCK_TEST_* && $name != RLOCK_TEST_NOTES ]] || unset "$name"
    done
    unset NOTIFY_SOCKET CI_JOB_URL BUILD_URL GITHUB_RUN_ID
    export TERM=xterm # not the caller's: what a live line needs
    export HOME=$BATS_TEST_TMPDIR/home
    export XDG_CONFIG_HOME=$HOME/.config
    export RLOCK_CONFIG=$HOME/none.conf
    export RLOCK_SERVER=unix://$BATS_FILE_TMPDIR/main/sock
    export TEST_MARK=$$-$BATS_TEST_NUMBER-$RANDOM$RANDOM
    mkdir -p "$XDG_CONFIG_HOME"
    : >"$RLOCK_CONFIG"
}

# Whatever is still there is ended, and the test fails for it.
rlock_teardown() {
    local left mark="TEST_MARK=$TEST_MARK"
    helpers_stop
    left=$(wait_until 3 none_marked "$mark" 2>/dev/null || assert_no_processes "$mark" 2>&1) ||
        marked "$mark" | xargs -r kill -KILL 2>/dev/null || true
    server_stop "${servers[@]}"
    [[ -z $left ]] || fail "processes left behind: $left" || return
    wait_until 3 no_subscriptions
}

# --- the program -------------------------------------------------------------------------------

# rlock ARG...: in the foreground, never for longer than a minute.
rlock() {
    timeout --foreground -s KILL $((60 * SLOW)) "$RLOCK" "$@"
}

# try ARG...: rlock by bats' run; sets status, output and stderr. What it said is shown when the test
# fails.
try() {
    run --separate-stderr rlock "$@"
    printf '%s\n' "status $status: rlock $*" "$stderr"
}

# start ARG...: in the background; pid is its process. Its output goes to the files out and err, or
# to $log.out and $log.err. SIGINT and SIGQUIT, which a shell without job control has its background
# processes ignore, and SIGHUP, which nohup(1) has, are as usual. See reap.
start() {
    env --default-signal=HUP,INT,QUIT "$RLOCK" "$@" \
        >"${log:+$log.}out" 2>"${log:+$log.}err" </dev/null 3>&- 4>&- &
    pid=$!
}

# hold NAME [OPTION...]: a background rlock that holds NAME until let_go; returns when it is held.
hold() {
    rm -f "held-$1" "let-go-$1"
    log=hold-$1 start run -n "$1" "${@:2}" -- \
        sh -c 'echo >"$0"; exec $SECTION --until "$1"' "held-$1" "let-go-$1"
    holder=$pid
    wait_until 10 test -s "held-$1"
}

let_go() { # NAME
    : >"let-go-$1"
}

# reap PID [SECONDS]: waits for a background process of this shell to end, for 30 s at most; sets
# status. Again for one that was waited for already: the same status.
reap() {
    wait_until "${2:-30}" ended "$1" || return 1
    status=${reaped[$1]-0}
    [[ -z ${reaped[$1]-} ]] || return 0
    wait "$1" || status=$?
    reaped[$1]=$status
}

reaps() { # STATUS PID [SECONDS]: the same, and asserts the status
    reap "${@:2}"
    assert_equal "$status" "$1"
}

ended() { # PID: gone, or a zombie
    local state=Z
    state_of "$1" state || true
    [[ $state == Z ]]
}

# --- time --------------------------------------------------------------------------------------

# ms N: N milliseconds, more on a slow build, as a duration for rlock.
ms() {
    echo "$(($1 * SLOW))ms"
}

now_ms() {
    local now=${EPOCHREALTIME/[.,]/}
    echo "$((now / 1000))"
}

# On CLOCK_MONOTONIC, in ns: comparable with what section.c records.
now_ns() {
    "$SECTION" --now
}

is_later() { # MS
    ((${EPOCHREALTIME/[.,]/} / 1000 > $1))
}

# wait_until SECONDS COMMAND...: tries the command until it succeeds, first every 10 ms, then less often: who
# polls takes time from those who are waited for.
wait_until() {
    local begin=${EPOCHREALTIME/[.,]/} limit=$1 spent=0 pause pipe=$BATS_FILE_TMPDIR/never never
    shift
    ! "$@" >/dev/null 2>&1 || return 0
    [[ -p $pipe ]] || mkfifo "$pipe" # to which nobody writes: sleep(1) would be a process each time
    exec {never}<>"$pipe"
    until "$@" >/dev/null 2>&1; do
        if ((spent > limit * 1000000 * SLOW)); then
            exec {never}>&-
            fail "not within $limit s: $*"
            return 1
        fi
        pause=$((10 * SLOW + spent / 16000))
        printf -v pause "0.%03d" "$((pause < 80 * SLOW ? pause : 80 * SLOW))"
        read -rt "$pause" -u "$never" || true
        spent=$((${EPOCHREALTIME/[.,]/} - begin))
    done
    exec {never}>&-
}

# took FROM TO COMMAND...: the command's status goes to status, its output to output and stderr; it must take FROM
# to TO ms. TO is a promise, which no slow machine stretches: what the machine adds is measured beside (see beside).
took() {
    local from=$1 to=$2 spent added
    shift 2
    within "$to" run --separate-stderr "$@"
    printf '%s\n' "status $status after $spent ms, $added of which the machine's: $*" "$stderr"
    ((spent >= from)) || fail "took $spent ms, not $from to $to: $*"
}

# within MS COMMAND...: the command, in this shell, takes so long at most; and what the machine adds.
within() {
    local begin most=$1
    shift
    beside_begin
    begin=$(now_ms)
    "$@"
    spent=$(($(now_ms) - begin))
    beside_end
    ((spent <= most + added)) || fail "took $spent ms, not $most (and $added): $*"
}

# What this machine adds, in ms, goes to added: how late a sleeper wakes meanwhile, all in all, and ten times what this
# build of rlock takes to say its version, which is little but its start.
beside_begin() {
    local begin
    begin=$(now_ms)
    "$RLOCK" --version >/dev/null
    added=$((10 * ($(now_ms) - begin)))
    beside=$BATS_FILE_TMPDIR/beside-$BASHPID
    : >"$beside"
    sleep_beside "$beside" >"$beside.late" 2>/dev/null 3>&- 4>&- &
    beside_pid=$!
}

beside_end() {
    rm "$beside"
    wait "$beside_pid"
    added=$((added + $(<"$beside.late")))
}

sleep_beside() { # FILE-PID: while both are there
    local pipe=$1.pipe never begin late all=0
    trap - DEBUG
    mkfifo "$pipe"
    exec {never}<>"$pipe"
    rm "$pipe"
    while [[ -e $1 ]] && kill -0 "${1##*-}"; do
        begin=${EPOCHREALTIME/[.,]/}
        read -rt 0.02 -u "$never" || true
        late=$((${EPOCHREALTIME/[.,]/} - begin - 20000))
        ((late < 2000)) || all=$((all + late))
    done
    echo "$((all / 1000))"
}

# --- what must and must not be there -----------------------------------------------------------

# All that may stay of a lock is its token; where a test loses requests or their answers (may_bury), what
# says for a while that they are over, too.
stays='^redisson_lock_token:'

may_bury() {
    stays='^(redisson_lock_token|rlock_tombstone):'
}

keys_left() {
    keys | grep -vE "$stays" || true
}

nothing_left() {
    local left
    left=$(keys_left)
    [[ -z $left ]] || fail "keys left behind: $left"
}

assert_no_keys() {
    nothing_left
    assert_tombstones_end
}

assert_tombstones_end() {
    local key
    for key in $(keys | grep '^rlock_tombstone:'); do
        (($(redis PTTL "$key") > 0)) || fail "$key stays for ever"
    done
}

# assert_end_within MS NAME: all that is there but NAME itself and tokens ends by itself, so soon.
assert_end_within() {
    local key ttl
    for key in $(keys_left | grep -vx "$2"); do
        ttl=$(redis PTTL "$key")
        ((ttl != -1 && ttl <= $1)) || fail "$key stays for $ttl ms"
    done
}

assert_keys() { # KEY...: these and tokens, nothing else
    assert_equal "$(keys_left | sort)" "$(printf '%s\n' "$@" | sort)"
}

assert_one_line() { # TEXT
    [[ -n $1 && $1 != *$'\n'* ]] || fail "not one line: $1"
}

# The message grammar: one line on standard error, "rlock: ..." and no capital after that.
assert_message() {
    assert_one_line "$stderr"
    [[ $stderr =~ ^rlock:\ [^A-Z] ]] || fail "not a message of rlock: $stderr"
}

assert_stderr_has() { # TEXT...
    local text
    for text in "$@"; do
        [[ $stderr == *"$text"* ]] || fail "standard error lacks '$text': $stderr"
    done
}

# ends_saying STATUS WORD... -- ARG...: rlock ends with that status and one line that has each WORD, and runs nothing.
# It is run by try, or by what the array timed says.
ends_saying() {
    local expected=$1 words=()
    shift
    while [[ $1 != -- ]]; do
        words+=("$1")
        shift
    done
    shift
    "${timed[@]-try}" "$@"
    assert_equal "$status: $*" "$expected: $*"
    assert_message
    assert_stderr_has "${words[@]}"
    assert_file_not_exist ran
}

# refuses FROM TO STATUS WORD... -- ARG...: the same, after FROM to TO ms (see took).
refuses() {
    local timed=(took "$1" "$2" rlock)
    ends_saying "${@:3}"
}

# assert_usage WORD... -- ARG...: 64, and no server was asked.
assert_usage() {
    local before
    before=$(connections)
    ends_saying 64 "$@"
    assert_equal "$(connections)" $((before + 1))
}

assert_free() { # NAME
    assert_equal "$(redis EXISTS "$1")" 0
}

assert_held() { # NAME
    assert_equal "$(redis TYPE "$1")" hash
}
