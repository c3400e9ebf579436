# quorum.bash: five independent servers, m1 to m5, and one lock on a majority of them. Is
# loaded after rlock.bash: a file's setup and so on come from here.
# shellcheck shell=bash

source "$TESTS/lib/actors.bash"

all=(m1 m2 m3 m4 m5)
members=() # those that the test's lock lives on: see quorum
alive=()   # those of them that answer

setup_file() {
    local member
    rlock_setup_file
    for member in "${all[@]}"; do
        server_start "$member"
    done
}

teardown_file() {
    server_stop "${all[@]}"
    rlock_teardown_file
}

setup() {
    rlock_setup
    reset "${all[@]}"
    quorum "${all[@]}"
}

teardown() {
    thaw "${all[@]}"
    rlock_teardown && quiet "${all[@]}"
}

# reset MEMBER...: what a test did to it is undone, and it is empty; started again where it does not answer.
reset() {
    local member
    for member; do
        [[ $(redis_on "$member" 2>/dev/null <<<"$undo") == *OK ]] || server_start "$member"
    done
}

undo='ACL SETUSER default +@all
CLIENT UNPAUSE
REPLICAOF NO ONE
CONFIG SET maxmemory 0
FLUSHALL
CONFIG RESETSTAT'

# Nobody listens any more to those that answer.
quiet() { # MEMBER...
    wait_until 3 silent "$@"
}

silent() {
    [[ -z $(on "$@" -- PUBSUB CHANNELS 2>/dev/null) ]]
}

# quorum MEMBER...: from here on rlock's servers are these. Nobody waits for one that is late, as each is on a busy
# machine: it is told to forget what it may have heard.
quorum() {
    may_bury
    members=("$@")
    alive=("$@")
    export RLOCK_SERVER
    RLOCK_SERVER=$(urls "$@")
}

urls() { # MEMBER...
    local member
    for member; do
        server_url "$member"
    done | paste -sd ' '
}

# --- what befalls them -------------------------------------------------------------------------

# crash MEMBER...: gone, and its data; connections are refused.
crash() {
    server_stop "$@"
    dead "$@"
}

# pause MEMBER...: takes connections and requests, and answers nothing; resume: does what it was sent.
pause() {
    freeze "$@"
    dead "$@"
}

resume() {
    thaw "$@"
    alive+=("$@")
}

restart() {
    local member
    for member; do
        server_start "$member"
    done
    alive+=("$@")
}

empty() { # MEMBER...
    on "$@" -- FLUSHALL >/dev/null
}

dead() { # MEMBER...
    local each left=()
    for each in "${alive[@]}"; do
        [[ " $* " == *" $each "* ]] || left+=("$each")
    done
    alive=("${left[@]}")
}

# m1 is reached through the proxy.
through_proxy() {
    proxy_start m1
    RLOCK_SERVER+=" $(urls m2 m3 m4 m5)"
}

# --- what stands on them -----------------------------------------------------------------------

# on MEMBER... -- WORD...: what each answers.
on() {
    local each asked=()
    while [[ $1 != -- ]]; do
        asked+=("$1")
        shift
    done
    shift
    for each in "${asked[@]}"; do
        redis_on "$each" "$@"
    done
}

everywhere() { # WORD...
    on "${alive[@]}" -- "$@"
}

# held_on NAME: the number of members that answer and know the lock.
held_on() {
    everywhere EXISTS "$1" | grep -cx 1 || true
}

held_on_all() { # NAME
    (($(held_on "$1") == ${#members[@]}))
}

free_everywhere() { # NAME
    (($(held_on "$1") == 0))
}

# Of each member; but tokens, which are all that may stay of a lock.
keys_left() {
    everywhere --scan | grep -vE "$stays" || true
}

# only_foreign MEMBER...: Redisson's hold of x on these, as it was, and nothing else on any.
only_foreign() {
    assert_equal "$(keys_left)" "$(printf 'x%.0s\n' "$@")"
    assert_equal "$(on "$@" -- HGETALL x | sort -u)" "$(printf '1\n%s' "$foreign_owner")"
}

# foreign_on MEMBER... : x is held there, by somebody who is no rlock, for a minute.
foreign_on() {
    on "$@" -- HSET x "$foreign_owner" 1 >/dev/null
    on "$@" -- PEXPIRE x 60000 >/dev/null
}

foreign_gone() { # MEMBER...
    on "$@" -- EVAL 'redis.call("DEL", KEYS[1]) return redis.call("PUBLISH", KEYS[2], 0)' 2 \
        x 'redisson_lock__channel:{x}' >/dev/null
}

# listening N [CHANNELS]: on each member that answers so many rlocks wait, each on a channel of its own, or do others.
listening() {
    local member
    for member in "${alive[@]}"; do
        (($(redis_on "$member" PUBSUB CHANNELS "${2-*\}:*}" | grep -c .) >= $1)) || return 1
    done
}

# majority_end NAME: when a majority will not hold it any more if nobody renews it, in ns on
# CLOCK_MONOTONIC.
majority_end() {
    local sockets=("${alive[@]/%//sock}")
    sockets=("${sockets[@]/#/$BATS_FILE_TMPDIR/}")
    python3 -BSE "$TOOLS/expiry.py" "${sockets[0]}" "$1" "${sockets[@]:1}" | sort -rn | sed -n "$((${#members[@]} / 2 + 1))p"
}
