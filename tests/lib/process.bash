# process.bash: processes by a mark in their environment, and sections that leave a history.
# shellcheck shell=bash

# marked TEXT: the living processes whose environment has the line TEXT (a zombie's has none).
marked() {
    local file
    for file in $(unset TEST_MARK && exec grep -lszxF -- "$1" /proc/[0-9]*/environ); do
        file=${file#/proc/}
        echo "${file%/environ}"
    done
}

none_marked() {
    [[ -z $(marked "$1") ]]
}

assert_no_processes() { # TEXT
    local pid left=
    for pid in $(marked "$1"); do
        left+="$pid: $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null); "
    done
    [[ -z $left ]] || fail "processes alive: $left"
}

# R, S, T, Z... goes to the variable. Fails, and it stays, where the process is gone.
state_of() { # PID VARIABLE
    local line
    { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
    line=${line##*) }
    printf -v "$2" %s "${line%% *}"
}

in_state() { # PID STATE
    local state=
    state_of "$1" state || true
    [[ $state == "$2" ]]
}

session() { # PID
    sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 4
}

# The processes whose parent is PID.
children() {
    cat "/proc/$1/task/"*/children 2>/dev/null | tr ' ' '\n' | sed '/^$/d'
}

guardian_of() { # RLOCK'S PID
    local child
    for child in $(children "$1"); do
        [[ $(cat "/proc/$child/comm") != lock-guardian ]] || echo "$child"
    done
}

command_of() { # RLOCK'S PID
    local child
    for child in $(children "$(guardian_of "$1")"); do
        [[ $(cat "/proc/$child/comm") == lock-* ]] || echo "$child"
    done
}

# open_to_others: other users can run $RLOCK, a copy that they can reach (a clone below root's home they cannot),
# and use the main server.
open_to_others() {
    local dir=$BATS_FILE_TMPDIR
    cp "$RLOCK" "$BATS_TEST_TMPDIR/rlock"
    RLOCK=$BATS_TEST_TMPDIR/rlock
    chmod a+rwx "$dir/main/sock"
    while [[ $dir != / && $dir != /tmp ]]; do
        chmod a+x "$dir"
        dir=$(dirname "$dir")
    done
    chmod a+x "$BATS_TEST_TMPDIR"
}

# --- sections ----------------------------------------------------------------------------------

# build_section: section.c for this file's tests, as $SECTION, where every user can run it: the build's, if it has one.
build_section() {
    cp "${RLOCK%/*}/../tests/section" "$BATS_FILE_TMPDIR" 2>/dev/null || cc -O2 -o "$BATS_FILE_TMPDIR/section" "$TOOLS/section.c"
}

# A section's stamps, in ns: the first entry, the last exit, the first SIGTERM in a log.
entered() { # LOG
    sed -n 's/^enter=\([0-9]*\) .*/\1/p' "$1" | head -n 1
}

left() { # LOG
    sed -n 's/.* exit=\([0-9]*\) .*/\1/p' "$1" | tail -n 1
}

termed() { # LOG
    sed -n 's/.* term=\([0-9]*\)$/\1/p' "$1" | head -n 1
}

# beat FILE: the last instant, in ns, at which the section was alive.
beat() {
    echo "$(($(od -A n -t d8 "$1")))"
}

# alive_for MS: a section that beats in the file beat goes on for so long.
alive_for() {
    local until=$(($(now_ns) + $1 * SLOW * 1000000))
    wait_until 20 beaten "$until"
}

beaten() { # NS [FILE]
    (($(beat "${2-beat}") > $1))
}

check_history() {
    python3 -BSE "$TOOLS/check_history.py" "$@"
}

# Sanitizers need far more address space and stack.
is_sanitized() {
    ldd "$RLOCK" | grep -qE 'lib(asan|tsan)'
}

# Where a limit says how many threads there may be, each that the thread sanitizer adds is one too many.
no_thread_of_a_sanitizer() {
    ! grep -q __tsan_init "$RLOCK" || skip 'not for a build with a sanitizer: it has a thread in each process'
}
