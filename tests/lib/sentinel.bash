# sentinel.bash: a master (main), two replicas (one, two; others where `copies` says so) and the three
# Sentinels s1, s2 and s3 that watch them under the name m.
#
# The topology is started once for a file. What changes it says so (`changed`), and the next test
# gets a new one, on other ports: half a second, where healing the old one takes ten.
# shellcheck shell=bash

source "$TESTS/lib/actors.bash"
source "$TESTS/lib/replicas.bash"

everybody=(main one two three s1 s2 s3)
copies=(one two) # the replicas that a topology is started with

setup_file() {
    build_section
    topology_start
}

teardown_file() { topology_stop; }

setup() {
    if [[ -f $BATS_FILE_TMPDIR/changed ]]; then
        topology_stop
        topology_start
    fi
    rlock_setup
    RLOCK_SERVER=$(sentinel_url s1 s2 s3)
}

teardown() {
    thaw "${everybody[@]}"
    rlock_teardown
}

# --- the topology ------------------------------------------------------------------------------

server_options=()   # of the three servers
sentinel_options=() # lines for the Sentinels' configuration

topology_start() {
    local name dir ports
    read -ra ports <<<"$(free_ports ${#everybody[@]})"
    for name in "${everybody[@]}"; do
        mkdir -p "$BATS_FILE_TMPDIR/$name"
        echo "${ports[0]}" >"$BATS_FILE_TMPDIR/$name/port"
        ports=("${ports[@]:1}")
    done
    data_server main
    for name in "${copies[@]}"; do
        data_server "$name" --replicaof 127.0.0.1 "$(port_of main)"
    done
    for name in s1 s2 s3; do
        dir=$BATS_FILE_TMPDIR/$name
        {
            python3 "$TOOLS/sentinels.py" "${name#s}" "$(port_of main)" \
                "$(cd "$BATS_FILE_TMPDIR" && cat "${copies[@]/%//port}")" "$(cat "$BATS_FILE_TMPDIR"/s?/port)"
            printf '%s\n' "${sentinel_options[@]}"
        } >"$dir/sentinel.conf"
        env -u TEST_MARK redis-server "$dir/sentinel.conf" --sentinel --unixsocket "$dir/sock" --dir "$dir" \
            --logfile "$dir/log" </dev/null >/dev/null 2>&1 3>&- 4>&- &
        echo $! >"$dir/pid"
        wait_until 10 server_up "$name"
    done
    pace 500 500 400 # the old master is demoted after 3 s
    wait_until 20 topology_ready
    servers=() # they outlive this test
    disown -a  # and whoever kills them later, this shell need not tell
    rm -f "$BATS_FILE_TMPDIR/changed"
}

topology_stop() {
    server_stop "${everybody[@]}"
}

changed() {
    : >"$BATS_FILE_TMPDIR/changed"
}

# data_server NAME [OPTION...]: who takes over for whom is no accident: one for main, and main for one.
data_server() {
    local priority=100
    [[ $1 != main && $1 != one ]] || priority=10
    port_server "$1" --replica-priority "$priority" "${server_options[@]}" "${@:2}"
}

# pace INFO HELLO PING: how often, in ms, the Sentinels ask the servers, tell each other, and look whether
# all are alive: usually 10000 2000 1000. A master that was replaced is made a replica four hellos after that at the
# earliest. What a Sentinel was told three INFOs ago, or of a dead master's replicas five PINGs ago, is too old for it to
# choose by; and in a failover it asks once a second, however quick it is otherwise.
pace() {
    local name
    for name in s1 s2 s3; do
        assert_equal "$(redis_on "$name" SENTINEL DEBUG INFO-PERIOD "$1" PUBLISH-PERIOD "$2" PING-PERIOD "$3")" OK
    done
}

topology_ready() {
    local name
    for name in "${copies[@]}"; do
        follows "$name" main || return 1
    done
    streams_to main "${#copies[@]}" || return 1
    for name in s1 s2 s3; do
        [[ $(redis_on "$name" SENTINEL CKQUORUM m) == "OK 3"* ]] || return 1
        (($(redis_on "$name" SENTINEL REPLICAS m | grep -A 1 '^master-link-status$' | grep -c '^ok$') == ${#copies[@]})) || return 1
    done
}

# sentinel_url [SENTINEL...]: of those, or of all.
sentinel_url() {
    local name hosts=''
    (($# > 0)) || set -- s1 s2 s3
    for name; do
        hosts+=",127.0.0.1:$(port_of "$name")"
    done
    echo "sentinel://${hosts#,}/m"
}

# --- what happens to it ------------------------------------------------------------------------

# named_by SENTINEL: the server that it takes for the master.
named_by() {
    local port name
    port=$(redis_on "$1" SENTINEL GET-MASTER-ADDR-BY-NAME m | tail -n 1)
    for name in main "${copies[@]}"; do
        [[ $(port_of "$name") != "$port" ]] || echo "$name"
    done
}

# all_name SERVER: it is the master now, and all Sentinels say so.
all_name() {
    local name
    for name in s1 s2 s3; do
        [[ $(named_by "$name") == "$1" ]] || return 1
    done
    has_role "$1" master
}

# is_replaced: all name another one than main. On a busy machine it may not be the one that is meant to be.
is_replaced() {
    local name
    name=$(named_by s1)
    [[ -n $name && $name != main ]] && all_name "$name"
}

order_failover() {
    ordered=$(now_ms)
    assert_equal "$(redis_on s1 SENTINEL FAILOVER m)" OK
}

# planned_failover: from main to one. Returns when the Sentinels say so; main is then still a master
# for clients that did not ask.
planned_failover() {
    changed
    order_failover
    wait_until 20 planned all_name one
}

# planned COMMAND...: the same, of a failover that was ordered. A Sentinel that has heard nothing of the replicas for
# three INFOs gives up: after five seconds it is asked again.
planned() {
    ! "$@" || return 0
    (($(now_ms) < ordered + 5000 * SLOW)) || [[ $(named_by s1) != main ]] || order_failover || true
    return 1
}

# crash: main is gone. taken_over: one is the master.
crash() {
    changed
    server_stop main
}

taken_over() {
    wait_until 20 all_name one
}

# believes SENTINEL SERVER: that this is the master, whatever the others know.
believes() {
    changed
    redis_on "$1" SENTINEL REMOVE m >/dev/null
    assert_equal "$(redis_on "$1" SENTINEL MONITOR m 127.0.0.1 "$(port_of "$2")" 2)" OK
}

# never_promoted: from now on two is not, and all Sentinels know.
never_promoted() {
    redis_on two CONFIG SET replica-priority 0
    wait_until 10 told_priority_zero
}

told_priority_zero() {
    local name
    for name in s1 s2 s3; do
        redis_on "$name" SENTINEL REPLICAS m | grep -A 1 '^slave-priority$' | grep -qx 0 || return 1
    done
}

# --- who sees it -------------------------------------------------------------------------------

# section_of NAME WHO 'WORDS OF SECTION' [OPTION...]: a background rlock of NAME, whose sections are told in the
# file NAME, with their beats. pid_of[WHO] is its process.
section_of() {
    mkdir -p "$1.beats"
    # shellcheck disable=SC2086 # words
    log=$1-$2 start run -q -n "$1" "${@:4}" -- "$SECTION" --log "$1" --beat-dir "$1.beats" --note "who=$2" $3
    pid_of["$2"]=$pid
}

# watch_servers KEY...: who has them on main, one and two, in the file witness. See witness.py.
watch_servers() {
    local name sockets=()
    for name in main one two; do
        sockets+=("$name=$BATS_FILE_TMPDIR/$name/sock")
    done
    helper python3 "$TOOLS/witness.py" watch witness "${sockets[@]}" -- "$@" 2>witness.err
    wait_until 10 grep -q server=two witness
}

judge_witness() {
    python3 "$TOOLS/witness.py" judge witness one main "$@"
}
