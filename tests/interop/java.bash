# java.bash: JVMs with java/'s program, and their threads as actors. Those whose name begins with j are of the
# JVM j, and so on.
#
# environment: INTEROP_CLASSES  the compiled program (tests/interop/run makes it)
#              INTEROP_JARS     Redisson's jars
# shellcheck shell=bash

# java_servers, which interop.bash and files with servers of their own have, says which servers it asks.

# java_start JVM [OPTION...]: see Interop.java; ready some time later. Again for one that was killed. A short life is no
# time to compile well.
java_start() {
    local dir=$BATS_FILE_TMPDIR/jvm-$1
    shift
    mkdir -p "$dir"
    [[ -p $dir/orders ]] || mkfifo "$dir/orders"
    printf '%s\n' "$@" >"$dir/options"
    : >"$dir/out"
    env -u TEST_MARK java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m -cp "$INTEROP_CLASSES:$INTEROP_JARS/*" \
        Interop "$(java_servers)" "$@" 0<>"$dir/orders" >"$dir/out" 2>>"$dir/err" 3>&- 4>&- &
    echo $! >"$dir/pid"
    disown $!
}

java_ready() { # JVM
    grep -q '^ready ' "$BATS_FILE_TMPDIR/jvm-$1/out"
}

# java_kill JVM: as a crash; all of its actors are gone. Another one takes its place after the test.
java_kill() {
    local pid
    pid=$(<"$BATS_FILE_TMPDIR/jvm-$1/pid")
    kill -KILL "$pid"
    wait_until 5 ended "$pid"
}

java_again() { # JVM
    local options
    mapfile -t options <"$BATS_FILE_TMPDIR/jvm-$1/options"
    java_start "$1" "${options[@]}"
}

java_stop() {
    local pid
    for pid in "$BATS_FILE_TMPDIR"/jvm-*/pid; do
        kill -KILL "$(<"$pid")" 2>/dev/null || true
    done
}

# Nobody holds or awaits anything any more; what went wrong in a JVM is shown if the test fails. What a
# failed test's threads still have would be renewed: it goes with their JVM.
java_forget() {
    local dir
    for dir in "$BATS_FILE_TMPDIR"/jvm-*; do
        [[ ${BATS_TEST_COMPLETED-} == 1 ]] || java_kill "${dir##*-}"
        echo "$PWD - forget" 1<>"$dir/orders" >&1
        grep -v SLF4J "$dir/err" || true
        : >"$dir/err"
        ! ended "$(<"$dir/pid")" || java_again "${dir##*-}"
    done
}

# --- Java actors ---------------------------------------------------------------------------------

# tell WHO VERB [WORD...]: see Actor.java. The answer WHO prints what came of it, when it has.
tell() {
    rm -f "answer-$1"
    echo "$PWD $*" 1<>"$BATS_FILE_TMPDIR/jvm-${1:0:1}/orders" >&1
}

answer() { # WHO
    wait_until 20 test -e "answer-$1" && cat "answer-$1"
}

ask() { # WHO VERB [WORD...]
    tell "$@"
    answer "$1"
}

# assert_answer ANSWER WHO VERB [WORD...]
assert_answer() {
    local expected=$1
    shift
    assert_equal "$*: $(ask "$@")" "$*: $expected"
}

# gives_back WHO KIND NAME: what it has. That it took it is answered after the entry in history: not to be
# mistaken for what comes of the release.
gives_back() {
    answer "$1" >/dev/null
    assert_answer released "$1" release "${@:2}"
}
