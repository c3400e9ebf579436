#!/usr/bin/env bats
# no_wait.bats: servers without WAIT, as some managed ones are. Where rlock chose by itself that a replica
# must acknowledge it does without, and says so once; what was asked for is refused.

load ../../lib/rlock
load ../../lib/cluster
load ../../lib/doctor

# By another name it is not there for rlock.
node_options=(--rename-command WAIT no-such-wait)

warning='no replica acknowledges a lock'

assert_warned_once() {
    assert_equal "$(grep -c "$warning" <<<"$stderr")" 1
}

@test "cluster://: each kind runs, with one warning; nothing is left" {
    local kind renewed=$SLOW
    for kind in run fair read write 'sem --permits 2' 'run -n y'; do
        # shellcheck disable=SC2086
        try $kind -n x -l "$(ms 900)" -- sh -c "sleep $renewed && echo ran"
        renewed=0
        assert_equal "$kind: $status $output" "$kind: 0 ran"
        assert_warned_once
        assert_message
        assert_stderr_has WAIT --replicas
        [[ $kind != sem* ]] || at x DEL x
        nothing_left
    done
}

@test "cluster://: latches, handles and --resize, too; -q says nothing, --log json a warning" {
    local handle
    warned latch set -n x1 --count 1
    warned latch down -n x1
    warned acquire run -n x -l 10s
    handle=$output
    warned renew "$handle"
    try release "$handle"
    assert_equal "$status: $stderr" "0: "
    try sem -q -n x --permits 1 -- true
    assert_equal "$status: $stderr" "0: "
    warned sem -n x --resize 2
    at x DEL x
    warned run --log json -n x -- true
    assert_regex "$(grep "$warning" <<<"$stderr")" '"level":"warning"'
    nothing_left
}

warned() { # ARG...
    try "$@"
    assert_success
    assert_warned_once
}

@test "--replicas 0: no warning; 1: 69, and why" {
    try run --replicas 0 -n x -- true
    assert_equal "$status: $stderr" "0: "
    ends_saying 69 WAIT --replicas -- run --replicas 1 -n x -- touch ran
    nothing_left
    ends_saying 69 WAIT -- latch set --replicas 1 -n x1 --count 1
    at x1 DEL x1
}

@test "doctor: a finding with the cure; with --replicas 1 another" {
    well "${nodes[@]}" # whoever is a master by now
    assert_finding wait "has no WAIT.*grant it again"
    assert_equal "$(grep -c '^finding' <<<"$output")" 3
    refute_output --partial 'must acknowledge'
    try doctor --replicas 1
    assert_failure 1
    assert_says finding wait 'has no WAIT.*no lock can be taken'
    assert_says finding 'lock cycle' WAIT
}
