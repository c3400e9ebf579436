#!/usr/bin/env bats
# status_servers.bats: `rlock status` on several servers: what each says of a name.

load ../../lib/rlock
load ../../lib/quorum
load ../../lib/status

@test "each server's view is told apart, in JSON and in tables" {
    quorum m1 m2 m3
    foreign_on m2 m3
    see x
    assert_seen '[(l["name"], l["server"], l["state"]) for l in v]' \
        "[('x', '$(server_url m1)', 'free'), ('x', '$(server_url m2)', 'held'), ('x', '$(server_url m3)', 'held')]"
    try status
    assert_success
    assert_line --index 0 "$(server_url m2)"
    assert_equal "$(grep -c '^x  *run  *held' <<<"$output")" 2
}

@test "-q: held is what a majority says; a server that hangs costs a second, one that is away is told; 69 when most are" {
    quorum m1 m2 m3
    foreign_on m2
    try status -q x
    assert_equal "$status$output$stderr" 0
    foreign_on m3
    try status -q x
    assert_equal "$status$output$stderr" 75
    pause m1
    took 500 2500 "$RLOCK" status -q x y z # about a second in all, however many names
    assert_failure 75
    crash m1
    see x
    assert_stderr_has "look at x on $(server_url m1)"
    assert_seen 'len(v)' 2
    run -75 rlock status -q x
    crash m2
    run -69 --separate-stderr rlock status --json x
    seen=$output
    assert_seen '[l["server"] for l in v]' "['$(server_url m3)']"
}
