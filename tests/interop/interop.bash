# interop.bash: rlocks and threads of Java services with Redisson, as actors on the same locks. Actors whose
# name begins with j or k are threads of the JVM of that letter; all others are rlocks.
#
# Needs rlock.bash and actors.bash, and is loaded after them: a file's setup and so on come from here.
#
# environment: INTEROP_ON=cluster   the main server is a cluster; else it is one that stands alone
# shellcheck shell=bash

source "$TESTS/lib/ports.bash"
source "$TESTS/interop/java.bash"

# What rlock calls what Redisson has.
declare -gA form=([lock]=run [fenced]=run [fair]=fair [read]=read [write]=write
    [sem]='sem --plain --permits 1' [permits]='sem --permits 1')
declare -gA taken=() # by Java actors: KIND NAME

DYING_MS=$((1500 * SLOW)) # the lease of k's locks: k is there to be killed

setup_file() {
    build_section
    interop_server
    java_start j
    java_start k watchdog="$DYING_MS" patience="$DYING_MS"
}

shared=(main) # by all tests of a file

teardown_file() {
    local server
    java_stop
    for server in "${shared[@]}"; do
        server_stop "$server"
    done
}

setup() {
    interop_setup
}

interop_setup() {
    local each
    rlock_setup
    ! in_cluster || RLOCK_SERVER=cluster://$(main_address)
    for each in "$BATS_FILE_TMPDIR"/jvm-*; do
        [[ ! -d $each ]] || wait_until 30 java_ready "${each##*-}"
    done
}

teardown() {
    java_forget
    rlock_teardown
}

# --- the main server -----------------------------------------------------------------------------

in_cluster() {
    [[ ${INTEROP_ON-} == cluster ]]
}

# Redisson comes by TCP. A cluster is this one node: all that is elsewhere is the same, and tests/lib
# finds every key there. cluster.bats has several.
interop_server() {
    local port bus
    [[ -d ${INTEROP_CLASSES:-} ]] || { echo "no classes: tests/interop/run makes them" >&2; return 1; }
    read -r port bus <<<"$(free_ports 2)"
    echo "$port" >"$BATS_FILE_TMPDIR/port"
    if in_cluster; then
        server_start main --bind 127.0.0.1 --port "$port" --cluster-enabled yes --cluster-port "$bus" \
            --cluster-announce-ip 127.0.0.1
        redis CLUSTER ADDSLOTSRANGE 0 16383
        wait_until 10 cluster_stands
    else
        server_start main --bind 127.0.0.1 --port "$port"
    fi
}

cluster_stands() {
    redis CLUSTER INFO | grep '^cluster_state:ok'
}

main_address() {
    echo "127.0.0.1:$(<"$BATS_FILE_TMPDIR/port")"
}

java_servers() {
    local which=servers
    ! in_cluster || which=cluster
    echo "$which=$(redis_urls "$(<"$BATS_FILE_TMPDIR/port")")"
}

redis_urls() { # PORT...: with commas
    printf ',redis://127.0.0.1:%s' "$@" | cut -c 2-
}

# --- actors of both worlds -----------------------------------------------------------------------

is_java() { # WHO
    [[ $1 == [jk]* ]]
}

# comes WHO KIND NAME [OPTION=VALUE...]: wants to have NAME; the options are Thing.java's. enters: and has it,
# which the file history tells. leaves WHO...: gives it back. Who is to be brief, leaves at once.
comes() {
    local who=$1 kind=$2 name=$3 verb=take
    shift 3
    if is_java "$who"; then
        [[ ! -e end-$who ]] || verb=hold
        tell "$who" "$verb" "$kind" "$name" "$@"
        taken["$who"]="$kind $name"
        return
    fi
    # shellcheck disable=SC2046,SC2086
    log=$who start ${form[$kind]} -n "$name" $(in_rlocks_words "$@") -- \
        "$SECTION" --log history --note "who=$who" --until "end-$who"
    pid_of["$who"]=$pid
}

in_rlocks_words() { # [OPTION=VALUE...]
    local option
    for option; do
        case $option in
        wait=*) echo "-w ${option#*=}ms" ;;
        lease=*) echo "-l ${option#*=}ms" ;;
        permits=*) echo "--take ${option#*=}" ;;
        *) fail "rlock knows no such option: $option" ;;
        esac
    done
}

enters() {
    comes "$@"
    wait_until 15 entered_section "$1"
}

leaves() { # WHO...
    local who
    for who; do
        if is_java "$who" && [[ -e end-$who ]]; then
            assert_equal "$who: $(answer "$who")" "$who: released"
        elif is_java "$who"; then
            # shellcheck disable=SC2086
            gives_back "$who" ${taken[$who]}
        else
            finish "$who"
        fi
    done
}

# passes WHO KIND NAME: it comes in at once, and leaves.
passes() {
    brief "$1"
    comes "$@"
    leaves "$1"
}

# shut_out WHO KIND NAME [OPTION=VALUE...]: it does not get it now.
shut_out() {
    local who=$1 kind=$2 name=$3
    if is_java "$who"; then
        assert_answer busy "$who" take "$kind" "$name" wait=0 "${@:4}"
    else
        # shellcheck disable=SC2046,SC2086
        try ${form[$kind]} -x -n "$name" $(in_rlocks_words "${@:4}") -- true
        assert_equal "$* $status" "$* 75"
    fi
}

# excludes KIND NAME OTHER...: while an actor of one world has it, one of the other gets none of these, both ways.
excludes() {
    local pair who other kind
    for pair in 'j a' 'a j'; do
        read -r who other <<<"$pair"
        enters "$who-$1" "$1" "$2"
        for kind in "${@:3}"; do
            shut_out "$other-$kind" "$kind" "$2"
        done
        leaves "$who-$1"
    done
}

# awaits WHO KIND NAME [OPTION=VALUE...]: it wants it, listens for that, and has tried once more since; nobody
# listened before. Redisson's reader or writer that has not tried yet misses a message, and sleeps for a lease.
awaits() {
    local before
    wait_until 10 unheard "$3"
    before=$(scripts_run "$3")
    comes "$@"
    wait_until 10 awaited "$3"
    wait_until 10 have_tried "$3" $((before + 2))
}

home_of() { # NAME: its server
    echo main
}

scripts_run() { # NAME
    local home
    home=$(home_of "$1")
    echo "$(($(calls eval "$home") + $(calls evalsha "$home")))"
}

have_tried() { # NAME N
    (($(scripts_run "$1") >= $2))
}

channels() { # NAME: its own, and those of a cluster's shard
    local home which
    home=$(home_of "$1")
    for which in CHANNELS SHARDCHANNELS; do
        redis_on "$home" PUBSUB "$which" "*{$1}*"
    done
}

awaited() {
    [[ -n $(channels "$1") ]]
}

unheard() {
    [[ -z $(channels "$1") ]]
}

# gaps WHO OTHER...: ms from each one's exit to the next one's entry.
gaps() {
    local last=$1 each
    shift
    for each; do
        gap "$last" "$each"
        last=$each
    done
}

# handovers KIND NAME WHO...: each waits while the one before has it, and is woken by its leaving: within 100
# ms at the middle one, and never as late as by a time-out, which comes after 2 s at the soonest.
handovers() {
    local kind=$1 name=$2 last=$3 each all
    shift 2
    all=("$@")
    shift
    enters "$last" "$kind" "$name"
    for each; do
        awaits "$each" "$kind" "$name"
        refute_entered "$each"
        leaves "$last"
        wait_until 10 entered_section "$each"
        last=$each
    done
    leaves "$last"
    judge_gaps "$kind" "$(gaps "${all[@]}")"
}

judge_gaps() { # WHAT GAPS
    local sorted middle
    mapfile -t sorted < <(sort -n <<<"$2")
    middle=${sorted[${#sorted[@]} / 2]}
    echo "$1: ms from exit to entry: ${sorted[*]}"
    ((sorted[0] >= 0 && middle < 100 * SLOW && sorted[-1] < 1500)) || fail "$1: ${sorted[*]} ms from exit to entry"
}

# --- those who are killed ------------------------------------------------------------------------

# ends NAME...: when their leases end, those of a semaphore's permits too: ms of the epoch, in one line.
ends() {
    local name
    for name; do
        redis EVAL "local permit = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
            return permit[2] or redis.call('PEXPIRETIME', KEYS[1])" 2 "$name" "{$name}:timeout"
    done | tr '\n' ' '
}

# entry WHO: the same time of its entry. Whoever is not kept waiting between the two clocks knows how far apart they are.
entry() {
    python3 -c 'import sys, time
print((int(sys.argv[1]) + max(time.time_ns() - time.monotonic_ns() for _ in range(9))) // 1000000)' "$(stamp "$1" enter)"
}

# enters_at MS WHO: when a dead one's lease is over, or a moment later. MS is when it would have ended: as it
# was read a moment before the death, so that it may have been renewed once more.
enters_at() {
    local late
    wait_until 15 entered_section "$2"
    late=$(($(entry "$2") - $1))
    ((late >= -5 && late < DYING_MS + 1000 * SLOW)) || fail "$2 entered $late ms after the lease's end"
}

# --- what is left --------------------------------------------------------------------------------

# Redisson remembers each unlock for some seconds, lest it be done twice.
keys() {
    redis --scan | grep -v '^redisson_unlock_latch:' || true
}

# assert_rest_ends [NAME]: but for a semaphore NAME. What rlock alone knows of those who are dead, or were not
# the last to leave, goes by itself when Redisson has cleared the rest.
assert_rest_ends() {
    local key
    for key in $(keys | grep -v -e '^redisson_lock_token:' -e "^${1-}$"); do
        [[ $key == rlock_* ]] || fail "left behind: $key"
        assert_not_equal "$key $(redis PTTL "$key")" "$key -1"
    done
}
