# cluster.bash: a cluster of three masters, each with a replica, on ports of the loopback interface:
# n1 to n6, of which n1 to n3 are the masters at first. Is loaded after rlock.bash:
# a file's setup and so on come from here.
#
# All six have a Unix socket too, so that redis_on and the rest of server.bash work with them.
# shellcheck shell=bash

source "$TESTS/lib/actors.bash"
source "$TESTS/lib/ports.bash"

nodes=(n1 n2 n3 n4 n5 n6)
node_options=()
moving=() # the name whose slot is being migrated, and where to
down=     # whether it answers nothing but that it is (cluster uncover)

setup_file() {
    rlock_setup_file
    cluster_start
}

teardown_file() {
    server_stop "${nodes[@]}"
    rlock_teardown_file
}

setup() {
    local node
    rlock_setup
    for node in "${nodes[@]}"; do
        node_lives "$node" || node_start "$node"
    done
    cluster ready
    RLOCK_SERVER=$(cluster_url "${nodes[@]}")
}

teardown() {
    thaw "${nodes[@]}"
    [[ -z ${moving[*]} ]] || migrate_end
    [[ -z $down ]] || cluster cover
    rlock_teardown && cluster quiet
}

# cluster VERB...: see cluster.py.
cluster() {
    python3 -BSE "$TOOLS/cluster.py" "$BATS_FILE_TMPDIR" "$@"
}

# --- the nodes ---------------------------------------------------------------------------------

# They know each other and their slots from their first file on. A master that has just started takes
# no writes for two seconds; a replica that takes over from it does. So n1 to n3 begin as replicas.
cluster_start() {
    local node ports
    read -ra ports <<<"$(free_ports 12)"
    cluster files "${ports[@]}"
    for node in "${nodes[@]}"; do
        node_start "$node"
    done
    cluster takeover n1 n2 n3
}

node_start() {
    local options
    read -ra options <"$BATS_FILE_TMPDIR/$1/options"
    server_start "$1" "${options[@]}" "${node_options[@]}"
}

port_of() { # NODE
    cut -d ' ' -f 2 "$BATS_FILE_TMPDIR/$1/place"
}

# cluster_url NODE...: with these as the nodes to ask.
cluster_url() {
    local node list=
    for node; do
        list+=,127.0.0.1:$(port_of "$node")
    done
    echo "cluster://${list#,}"
}

# --- who is what -------------------------------------------------------------------------------

node_lives() { # NODE: there, and not stopped
    local pid state
    pid=$(server_pid "$1") && state_of "$pid" state && [[ $state != [TZ] ]]
}

# home NAME: the master of its slot, as the first node that is alive says.
home() {
    local node
    for node in "${nodes[@]}"; do
        ! node_lives "$node" || break
    done
    { redis_on "$node" CLUSTER KEYSLOT "$1"; redis_on "$node" CLUSTER NODES; } | awk '
        NR == 1 { slot = $1; next }
        $3 ~ /(^|,)master/ && $3 !~ /(^|,)fail(,|$)/ {
            for (i = 9; i <= NF; i++)
                if (split($i, ends, "-") && ends[1] ~ /^[0-9]+$/ && slot >= ends[1] + 0 && slot <= (2 in ends ? ends[2] : ends[1]) + 0)
                    home = "n" substr($1, 40)
        }
        END { print home; exit home == "" }'
}

replica_of() { # NODE
    cluster replica "$1"
}

# other_master NAME: one that has it not.
other_master() {
    local home
    home=$(home "$1")
    cluster masters | tr ' ' '\n' | grep -vx "$home" | head -n 1
}

# at NAME WORD...: what the master of that name answers.
at() {
    local node
    node=$(home "$1")
    shift
    redis_on "$node" "$@"
}

# --- what befalls them -------------------------------------------------------------------------

# migrate_begin NAME NODE: its slot is on the way there, its keys are not; a slot moves as redis-cli's
# reshard and others do it. migrate_keys moves those that are there, or these; migrate_end the slot.
migrate_begin() {
    moving=("$@")
    cluster begin "$@"
}

migrate_keys() { # [KEY...]
    cluster keys "${moving[@]}" "$@"
}

migrate_end() {
    cluster end "${moving[@]}"
    moving=()
}

# --- locks on it -------------------------------------------------------------------------------

# keys_left: on all masters; but tokens, which are all that may stay of a lock.
keys_left() {
    cluster left | grep -vE "$stays" || true
}

# waiting NODE NAME N: so many rlocks wait for it there, each on a shard channel of its own.
waiting() {
    (($(redis_on "$1" PUBSUB SHARDCHANNELS "*{$2}:*" | grep -c .) == $3))
}

# renewed: its lease ends later than it did when this was asked for the first time, or since the last
# time that it was true.
renewed() { # NAME
    local end
    end=$(at "$1" PEXPIRETIME "$1")
    [[ -s "end-of-$1" ]] || echo "$end" >"end-of-$1"
    ((end > $(<"end-of-$1"))) && rm -f "end-of-$1"
}
