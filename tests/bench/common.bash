# common.bash: what both benchmarks stand on: the programs of this directory and a private server.
# shellcheck shell=bash

BENCH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PROJECT=$(dirname "$(dirname "$BENCH")")
RLOCK=${RLOCK_BIN:-$PROJECT/build/cmd/rlock}
SCRIPTS=$(dirname "$RLOCK")/../lib/lua # with what they include, as the server gets them
server_pid=

clean_up() {
    [[ -z $server_pid ]] || kill "$server_pid" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$dir"
}

sha() { # VERB
    sha1sum <"$SCRIPTS/mutex_$1.lua" | cut -d ' ' -f 1
}

build() { # PROGRAM...
    local program
    for program; do
        cc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -DACQUIRE="\"$(sha acquire)\"" \
            -DRELEASE="\"$(sha release)\"" -o "$dir/$program" "$BENCH/$program.c"
    done
}

redis() {
    redis-cli -s "$dir/sock" "$@"
}

# A server with all scripts, and an environment without settings.
begin() {
    local name script i
    [[ -x $RLOCK ]] || { echo "no rlock at $RLOCK: build first, or set RLOCK_BIN" >&2; exit 69; }
    for name in "${!RLOCK_@}"; do
        unset "$name"
    done
    dir=$(mktemp -d)
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    : >"$dir/none.conf"
    export RLOCK_CONFIG=$dir/none.conf RLOCK_SERVER=unix://$dir/sock
    redis-server --port 0 --unixsocket "$dir/sock" --save '' --appendonly no --dir "$dir" \
        --logfile "$dir/log" --maxclients 20000 >/dev/null 2>&1 &
    server_pid=$!
    for ((i = 0; i < 500; i++)); do
        [[ $(redis PING 2>/dev/null) != PONG ]] || break
        sleep 0.01
    done
    for script in "$SCRIPTS"/*.lua; do
        redis -x SCRIPT LOAD <"$script" >/dev/null
    done
    echo "$("$RLOCK" --version), $(redis-server --version | sed 's/.* v=\([^ ]*\).*/Redis \1/')," \
        "$(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg) before the start"
}
