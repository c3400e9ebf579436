#!/usr/bin/env bats
# status_servers.bats: `rlock status` on several servers: what each says of a name.

load ../../lib/rlock
load ../../lib/status

JAVA=77777777-2222-4333-8444-555555555555:7

setup() {
    local n
    rlock_setup
    for n in 1 2 3; do
        server_start "m$n"
        url[n]=$(server_url "m$n")
    done
    RLOCK_SERVER="${url[*]}"
}

held_on() { # N...
    local n
    for n; do
        redis_on "m$n" HSET x "$JAVA" 1
    done
}

@test "each server's view is told apart, in JSON and in tables" {
    held_on 2 3
    see x
    assert_seen '[(l["name"], l["server"], l["state"]) for l in v]' \
        "[('x', '${url[1]}', 'free'), ('x', '${url[2]}', 'held'), ('x', '${url[3]}', 'held')]"
    try status
    assert_success
    assert_line --index 0 "${url[2]}"
    assert_equal "$(grep -c '^x  *run  *held' <<<"$output")" 2
}

@test "-q: held is what a majority says; a server that hangs costs a second, one that is away is told; 69 when most are" {
    held_on 2
    try status -q x
    assert_equal "$status$output$stderr" 0
    held_on 3
    try status -q x
    assert_equal "$status$output$stderr" 75
    freeze m1
    took 500 2500 "$RLOCK" status -q x y z # about a second in all, however many names
    assert_failure 75
    server_stop m1
    see x
    assert_stderr_has "look at x on ${url[1]}"
    assert_seen 'len(v)' 2
    run -75 rlock status -q x
    server_stop m2
    run -69 --separate-stderr rlock status --json x
    seen=$output
    assert_seen '[l["server"] for l in v]' "['${url[3]}']"
}
