# server.bash: private redis-servers on Unix sockets, and the fault proxy before them.
# shellcheck shell=bash

# RLOCK_TEST_SERVER: another server to test with, say valkey-server. It goes by redis-server's name, for
# `local:` too.
if [[ -n ${RLOCK_TEST_SERVER:-} && -n ${BATS_FILE_TMPDIR:-} ]]; then
    command -v "$RLOCK_TEST_SERVER" >/dev/null || { echo "no $RLOCK_TEST_SERVER" >&2; exit 1; }
    mkdir -p "$BATS_FILE_TMPDIR/bin"
    ln -sf "$(command -v "$RLOCK_TEST_SERVER")" "$BATS_FILE_TMPDIR/bin/redis-server"
    PATH=$BATS_FILE_TMPDIR/bin:$PATH
fi

# needs_server VERSION WHAT: skips where the server is older, and has not that. Valkey began with what Redis 7.2 has.
needs_server() {
    local version
    version=$(redis-server --version)
    [[ $version =~ v=([0-9.]+) ]]
    [[ $version == Valkey* ]] || printf '%s\n' "$1" "${BASH_REMATCH[1]}" | sort -V -C ||
        skip "not for Redis ${BASH_REMATCH[1]}: it has no $2"
}

launcher=()    # what starts a server: see net_server
servers=()     # started by this test: stopped after it
helper_pids=() # other processes started by this test: ended after it

# server_start NAME [OPTION...]: a redis-server on $BATS_FILE_TMPDIR/NAME/sock with nothing kept on
# disk. One that a test starts is stopped at the test's end, in whatever state it is.
server_start() {
    local dir=$BATS_FILE_TMPDIR/$1
    mkdir -p "$dir"
    env -u TEST_MARK "${launcher[@]}" redis-server --port 0 --unixsocket "$dir/sock" --unixsocketperm 700 \
        --save '' --appendonly no --dir "$dir" --logfile "$dir/log" --daemonize no "${@:2}" \
        </dev/null >/dev/null 2>&1 3>&- 4>&- &
    echo $! >"$dir/pid"
    [[ $1 == main ]] || servers+=("$1")
    wait_until 10 server_up "$1"
}

# net_server NAME [OPTION...]: one that also listens on TCP, in a network namespace of its own, so
# that no port of this machine is touched. in_net NAME COMMAND... runs there.
net_server() {
    unshare -n true || skip "needs the right to make a network namespace"
    launcher=(unshare -n python3 -BSE "$TOOLS/loopback.py")
    server_start "$1" --bind 127.0.0.1 -::1 --port 6379 "${@:2}"
    launcher=()
}

in_net() {
    nsenter -t "$(server_pid "$1")" -n "${@:2}"
}

# named COMMAND...: with a /etc/hosts of its own, the file hosts, which may change meanwhile. Becomes the
# command.
named() {
    unshare -m sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$PWD/hosts" "$@"
}

may_name() {
    : >hosts
    named true
}

server_pid() {
    [[ -f $BATS_FILE_TMPDIR/$1/pid ]] && echo "$(<"$BATS_FILE_TMPDIR/$1/pid")"
}

# server_stop NAME...: as by a crash; their sockets go as well.
server_stop() {
    local name pid
    for name; do
        pid=$(server_pid "$name") || continue
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        rm -f "$BATS_FILE_TMPDIR/$name/pid" "$BATS_FILE_TMPDIR/$name/sock"
    done
}

# freeze SERVER...: stopped in the middle of whatever they do: connections stay, nothing is answered.
freeze() {
    local name
    for name; do
        kill -STOP "$(server_pid "$name")"
        wait_until 5 in_state "$(server_pid "$name")" T
    done
}

thaw() { # SERVER...
    local name pid
    for name; do
        pid=$(server_pid "$name") || continue
        kill -CONT "$pid" 2>/dev/null || true
    done
}

# Answers, be it with an error: loading, no password given, busy.
server_up() {
    [[ -n $(redis_on "$1" PING 2>/dev/null) ]]
}

# redis_on SERVER WORD...; redis WORD...: what begins with a command, or with -e, goes by ask.c, if
# the build has it.
redis_on() {
    local socket=$BATS_FILE_TMPDIR/$1/sock
    shift
    if [[ ${1-} == @(-e|[A-Z]*) && -z ${REDISCLI_AUTH-} && -x $ASK ]]; then
        "$ASK" "$socket" "$@"
    else
        timeout 10 redis-cli -s "$socket" "$@"
    fi
}

redis() {
    redis_on main "$@"
}

server_url() {
    echo "unix://$BATS_FILE_TMPDIR/$1/sock"
}

keys() {
    redis KEYS '*'
}

# expiry KEY [SERVER]: when it will be gone, in ns on CLOCK_MONOTONIC, for certain not too late.
expiry() {
    python3 -BSE "$TOOLS/expiry.py" "$BATS_FILE_TMPDIR/${2:-main}/sock" "$1"
}

connections() {
    redis INFO stats | sed -n 's/^total_connections_received:\([0-9]*\).*/\1/p'
}

# A Redisson client's hold, made and given back as Redisson does it.
foreign_owner=11111111-2222-4333-8444-555555555555:42

foreign_hold() { # NAME MS
    redis HSET "$1" "$foreign_owner" 1 >/dev/null
    redis PEXPIRE "$1" "$2" >/dev/null
}

foreign_release() { # NAME
    redis EVAL 'redis.call("DEL", KEYS[1]) return redis.call("PUBLISH", KEYS[2], 0)' 2 \
        "$1" "redisson_lock__channel:{$1}" >/dev/null
}

# waiters NAME N [SERVER]: N rlocks wait for NAME, each on a channel of its own, and one of them
# hears Redisson's too.
waiters() {
    local own shared
    own=$(redis_on "${3:-main}" PUBSUB CHANNELS "redisson_lock__channel:{$1}:*" | grep -c .)
    shared=$(redis_on "${3:-main}" PUBSUB NUMSUB "redisson_lock__channel:{$1}" | tail -n 1)
    ((own == $2 && ($2 == 0 || shared >= 1)))
}

# in_line NAME N [SERVER]: so many stand in the line for it, dead ones too. Those who want to write have one of their own.
in_line() {
    (($(redis_on "${3:-main}" ZCARD "rlock_waiters:{$1}") + $(redis_on "${3:-main}" ZCARD "rlock_writers:{$1}") == $2))
}

# On a server that answers: one that is down, or refuses, knows none.
no_subscriptions() {
    local channels channel
    channels=$(redis -e PUBSUB CHANNELS 2>/dev/null) || return 0
    while read -r channel; do
        [[ -z $channel || $channel == @(rlock_break:*|__sentinel__:hello) ]] || return 1 # a holder's, the Sentinels' own
    done <<<"$channels"
}

# How often the server did COMMAND since the last CONFIG RESETSTAT, in scripts too.
calls() { # COMMAND [SERVER]
    local line
    line=$(redis_on "${2:-main}" INFO commandstats | grep -i "^cmdstat_$1:" || true)
    line=${line#*calls=}
    echo "${line%%,*}" | grep . || echo 0
}

# monitor COMMAND...: runs it; what clients sent the main server meanwhile, without what scripts do,
# is in monitor.txt, a line a command.
monitor() {
    local watcher
    rm -f monitor.raw # that of the last time says OK, too
    helper redis-cli -s "$BATS_FILE_TMPDIR/main/sock" MONITOR >monitor.raw
    watcher=$!
    wait_until 5 grep -q OK monitor.raw
    "$@"
    redis ECHO end-of-monitor >/dev/null
    wait_until 5 grep -q end-of-monitor monitor.raw
    kill "$watcher"
    wait "$watcher" 2>/dev/null || true
    grep -v -e ' lua\]' -e end-of-monitor -e '^OK' monitor.raw >monitor.txt || true
}

# listen CHANNEL...: what is published there goes to the file messages, as redis-cli shows it.
listen() {
    rm -f messages
    helper redis-cli -s "$BATS_FILE_TMPDIR/main/sock" SUBSCRIBE "$@" >messages
    wait_until 5 grep -q "^$#$" messages
}

# heard CHANNEL: the messages on it so far, a line each. To be asked once for each listen.
heard() {
    redis PUBLISH "$1" end-of-messages >/dev/null
    wait_until 5 grep -q '^end-of-messages$' messages
    grep -A 2 '^message$' messages | sed -n '3~3p' | grep -v '^end-of-messages$'
}

# helper COMMAND...: in the background until the test's end; it is none of those that rlock may leave behind.
helper() {
    env -u TEST_MARK "$@" 3>&- 4>&- &
    helper_pids+=($!)
}

helpers_stop() {
    local pid
    for pid in "${helper_pids[@]}"; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    helper_pids=()
}

# --- the proxy ---------------------------------------------------------------------------------

# proxy_start [SERVER]: a fault proxy before the server; RLOCK_SERVER becomes its address. All
# scripts are on the server already, so that each attempt is one EVALSHA.
proxy_start() {
    may_bury
    local server=${1:-main}
    load_scripts | redis_on "$server" --pipe >/dev/null
    mkfifo proxy.fifo
    : >proxy.log
    helper python3 -BSE "$TOOLS/faultproxy.py" "$BATS_TEST_TMPDIR/proxy.sock" \
        "$BATS_FILE_TMPDIR/$server/sock" proxy.fifo proxy.log 2>proxy.err
    wait_until 10 test -S proxy.sock
    export RLOCK_SERVER=unix://$BATS_TEST_TMPDIR/proxy.sock
}

# Requests as they are sent, for one redis-cli instead of one for each.
load_scripts() {
    local LC_ALL=C script text
    for script in "$SCRIPTS"/*.lua; do
        IFS= read -rd '' text <"$script" || true
        printf '*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%d\r\n%s\r\n' "${#text}" "$text"
    done
}

# strict_start [old]: a strict server before the main one, see strictproxy.py; RLOCK_SERVER becomes its address.
strict_start() {
    : >strict.log
    helper python3 -BSE "$TOOLS/strictproxy.py" "$BATS_TEST_TMPDIR/strict.sock" "$BATS_FILE_TMPDIR/main/sock" \
        "$SCRIPTS" strict.log "$@" 2>strict.err
    wait_until 10 test -S strict.sock
    export RLOCK_SERVER=unix://$BATS_TEST_TMPDIR/strict.sock
}

# proxy ORDER...: see faultproxy.py. Returns when it is in force.
proxy() {
    local before
    before=$(grep -c '^ok ' proxy.log || true)
    echo "$*" >proxy.fifo
    wait_until 5 proxy_took "$before"
}

proxy_took() {
    (($(grep -c '^ok ' proxy.log) > $1))
}

# sha VERB [KIND]: by what a request of a kind's script is known, the mutex's without KIND.
sha() {
    local kind=${2:-mutex}
    sha1sum <"$SCRIPTS/${kind/#plain/sem}_$1.lua" | cut -d ' ' -f 1
}

# requests MATCH: how many the proxy has seen.
requests() {
    grep '^request' proxy.log | grep -ci -- "$1" || true
}

# A fault that did not happen has tested nothing.
assert_bitten() { # WORD [AT LEAST]
    local times
    times=$(grep -c "^$1 " proxy.log || true)
    ((times >= ${2:-1})) || fail "the fault did not happen: $1 ($times times)"
}
