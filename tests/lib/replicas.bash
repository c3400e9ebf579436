# replicas.bash: servers that also listen on loopback ports, and replicas of them.
# shellcheck shell=bash

source "$TESTS/lib/ports.bash"

# port_server NAME [OPTION...]: a redis-server on a port and, as all of them, on a Unix socket. One that
# comes back has the port that it had.
port_server() {
    local dir=$BATS_FILE_TMPDIR/$1
    mkdir -p "$dir"
    [[ -f $dir/port ]] || free_ports 1 >"$dir/port"
    server_start "$1" --bind 127.0.0.1 --port "$(port_of "$1")" --repl-diskless-sync-delay 0 "${@:2}"
}

port_of() { # SERVER
    echo "$(<"$BATS_FILE_TMPDIR/$1/port")"
}

port_url() { # SERVER
    echo "redis://127.0.0.1:$(port_of "$1")"
}

# replica_server NAME OF [OPTION...]: a replica of OF; returns when it has OF's data and is counted.
replica_server() {
    port_server "$1" --replicaof 127.0.0.1 "$(port_of "$2")" "${@:3}"
    wait_until 10 follows "$1" "$2"
}

# follows REPLICA MASTER: its link is up, and the master has heard from it, as WAIT needs.
follows() {
    [[ $(redis_on "$1" INFO replication) == *"master_port:$(port_of "$2")"*master_link_status:up* ]] &&
        [[ $(redis_on "$2" INFO replication) == *"port=$(port_of "$1"),state=online"* ]]
}

# streams_to MASTER N: so many replicas have what it writes now. One that is "online" is sent nothing before
# its own first word, which may come a second later.
streams_to() {
    (($(printf 'PUBLISH probe 0\nWAIT %d 1000\n' "$2" | redis_on "$1" | tail -n 1) == $2))
}

stands_on() { # SERVER: x does, there
    (($(redis_on "$1" EXISTS x) == 1))
}

# renewed_on SERVER NS: x ends later there than it did, at that instant.
renewed_on() {
    (($(expiry x "$1") > $2 + 300000000))
}

has_role() { # SERVER master|slave
    [[ $(redis_on "$1" ROLE | head -n 1) == "$2" ]]
}

# assert_nothing_left SERVER: but tokens, and what remembers for a while that a try was given back.
assert_nothing_left() {
    local left
    left=$(redis_on "$1" --scan | grep -v -e '^redisson_lock_token:' -e '^rlock_tombstone:' || true)
    [[ -z $left ]] || fail "keys left behind on $1: $left"
}
