#!/usr/bin/env bats
# quorum_usage.bats: servers that are no quorum, and where the members live.

load ../../lib/rlock
load ../../lib/quorum
load ../../lib/ports

# none_asked WORD... -- ARG...: 64, and no member was asked.
none_asked() {
    local before
    before=$(asked)
    ends_saying 64 "$@"
    assert_equal "$(asked)" "$(awk '{ print $1 + 1 }' <<<"$before")" # we ourselves
}

# With how many connections each has been asked, this question not counted.
asked() {
    everywhere INFO stats | sed -n 's/^total_connections_received:\([0-9]*\).*/\1/p'
}

@test "64: what is no quorum, by option, by RLOCK_SERVER, whatever the command" {
    local two=(-s "$(server_url m1)" -s "$(server_url m2)") one
    one=$(server_url m3)
    none_asked 2 even -- run "${two[@]}" -n x -- touch ran
    RLOCK_SERVER=$(urls m1 m2) none_asked RLOCK_SERVER 2 -- read -n x -- touch ran
    none_asked 1 3 'one server' -- doctor -s "local:$PWD/h" -s redis://a -s "unix://$PWD/h/redis.sock"
    assert_file_not_exist h # no server was started for it
    none_asked fair -- fair "${two[@]}" -s "$one" -n x -- touch ran
    none_asked latch -- latch wait -n x # by RLOCK_SERVER
}

@test "each member has its own password; none is told" {
    local port list="" options=()
    for port in $(free_ports 3); do
        server_start "$port" --bind 127.0.0.1 --port "$port" --requirepass "secret-$port"
        list+=" redis://:secret-$port@127.0.0.1:$port"
        options+=(-s "redis://:secret-$port@127.0.0.1:$port")
    done
    unset RLOCK_SERVER
    try run "${options[@]}" -n x -- printenv RLOCK_SERVER
    assert_success
    assert_output "$(sed -E 's/^ //; s/:secret-[0-9]*@//g' <<<"$list")"
    RLOCK_SERVER=${list# } try run -v -n x -- sh -c 'exec rlock run -x -n x -- printenv RLOCK_TOKEN'
    assert_success
    assert_output 2
    refute_regex "$stderr" secret
}

@test "local: three times, each in a directory of its own" {
    local dir each
    dir=$(mktemp -d /tmp/rlock-test.XXXXXX) # a Unix socket's path is short
    try run -s "local:$dir/1" -s "local:$dir/2" -s "local:$dir/3" -n x -- \
        sh -c 'echo "$RLOCK_SERVER"; for s in "$0"/?/redis.sock; do until redis-cli -s "$s" EXISTS x | grep 1; do sleep 0.02; done; done
            rlock run -x -n x -- printenv RLOCK_TOKEN' "$dir"
    for each in 1 2 3; do
        redis-cli -s "$dir/$each/redis.sock" SHUTDOWN NOSAVE || true
    done
    rm -rf "$dir"
    assert_success
    assert_equal "${#lines[@]}: ${lines[*]:1}" "5: 1 1 1 1"
}
