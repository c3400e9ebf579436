#!/usr/bin/env bats
# quorum_usage.bats: servers that are no quorum, kinds that know none, and where the members live.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/quorum
load ../../lib/ports

# refused WORD... -- ARG...: 64, one line that has each WORD; no member was asked, no command run.
refused() {
    local before words=()
    while [[ $1 != -- ]]; do
        words+=("$1")
        shift
    done
    shift
    before=$(asked)
    try "$@"
    assert_equal "$status: $*" "64: $*"
    assert_message
    assert_stderr_has "${words[@]}"
    assert_equal "$(asked)" "$(awk '{ print $1 + 1 }' <<<"$before")" # we ourselves
    assert_file_not_exist ran
}

# servers MEMBER...: the options that name them.
servers() {
    local member
    options=()
    for member; do
        options+=(-s "$(server_url "$member")")
    done
}

@test "an even number: 64, and what would be right" {
    servers m1 m2
    refused 2 -- run "${options[@]}" -n x -- touch ran
    servers m1 m2 m3 m4
    refused 4 -- write "${options[@]}" -n x -- touch ran
    RLOCK_SERVER=$(urls m1 m2) refused RLOCK_SERVER 2 -- read -n x -- touch ran
}

@test "one server twice: 64, and which" {
    servers m1 m2 m1
    refused 1 3 'one server' -- run "${options[@]}" -n x -- touch ran
    RLOCK_SERVER="$(urls m1 m2 m3 m4 m3)" refused 3 5 'one server' -- run -n x -- touch ran
    RLOCK_SERVER="redis://a redis://b redis://a:6379" refused 'one server' -- run -n x -- touch ran
    RLOCK_SERVER="local:$PWD/h redis://a unix://$PWD/h/redis.sock" refused 1 3 'one server' -- run -n x -- touch ran
    assert_file_not_exist h # no server was started for it
    refused 1 3 'one server' -- doctor "${options[@]}"
}

@test "kinds that are held on one server only: 64" {
    servers m1 m2 m3
    refused fair -- fair "${options[@]}" -n x -- touch ran
    refused sem -- sem "${options[@]}" -n x --permits 2 -- touch ran
    refused sem -- sem "${options[@]}" -n x --permits 2 --plain -- touch ran
    refused sem -- sem "${options[@]}" -n x --resize 3
    refused latch -- latch set "${options[@]}" -n x --count 2
    refused latch -- latch down "${options[@]}" -n x
    refused latch -- latch wait "${options[@]}" -n x
    refused fair -- fair -n x -- touch ran # by RLOCK_SERVER
    refused latch -- latch wait -n x -- touch ran
}

@test "a Sentinel's or a cluster's address as a member: 64" {
    servers m1 m2
    refused 3 sentinel:// -- run "${options[@]}" -s sentinel://h/name -n x -- touch ran
    refused 3 cluster:// -- run "${options[@]}" -s cluster://h -n x -- touch ran
}

@test "an address that can't be read among good ones: 64, without its password" {
    servers m1 m2
    refused port -- run "${options[@]}" -s redis://u:sesame@h:port -n x -- touch ran
    refute_regex "$stderr" sesame
}

@test "different databases of one server are not independent: 64" {
    local url
    url=$(server_url m1)
    refused 'one server' -- run -s "$url" -s "$url?db=1" -s "$(server_url m2)" -n x -- touch ran
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

@test "RLOCK_PASSWORD is for each member whose address has none" {
    local member
    for member in m1 m2 m3; do
        server_start "guarded-$member" --requirepass sesame
    done
    RLOCK_SERVER=$(urls guarded-m1 guarded-m2 guarded-m3)
    RLOCK_PASSWORD=sesame try run -n x -- true
    assert_success
    RLOCK_PASSWORD=wrong try run -n x -- touch ran
    assert_failure 77
    try run -n x -- touch ran
    assert_failure 77
    assert_stderr_has password
    assert_file_not_exist ran
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

@test "a member in plain TCP, one on a socket, one by its host's name" {
    local ports
    read -ra ports <<<"$(free_ports 2)"
    server_start tcp --bind 127.0.0.1 --port "${ports[0]}"
    server_start named --bind 127.0.0.1 --port "${ports[1]}"
    try run -s "redis://127.0.0.1:${ports[0]}/3" -s "$(server_url m1)" -s "redis://localhost:${ports[1]}" -n x \
        -l "$(ms 900)" -- sleep "$SLOW" # who was late at first is asked with the first renewal
    assert_success
    assert_equal "$(redis_on tcp -n 3 GET 'redisson_lock_token:{x}') $(token_on named) $(token_on m1)" "1 1 1"
}
