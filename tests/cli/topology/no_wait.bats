#!/usr/bin/env bats
# no_wait.bats: servers without WAIT, as some managed ones are. Where rlock chose by itself that a replica
# must acknowledge it does without, and says so once; what was asked for is refused.

load ../../lib/rlock
load ../../lib/protected
load ../../lib/cluster
load ../../lib/doctor

# By another name it is not there for rlock.
setup_file() {
    local node ports
    rlock_setup_file
    read -ra ports <<<"$(free_ports 12)"
    cluster files "${ports[@]}"
    for node in "${nodes[@]}"; do
        sed -i '1s/$/ --rename-command WAIT no-such-wait/' "$BATS_FILE_TMPDIR/$node/options"
        node_start "$node"
    done
    cluster takeover n1 n2 n3
    wait_until 10 replicas_told
}

# Until its replica has said how far it is CLUSTER SLOTS hides it.
replicas_told() {
    [[ $(redis_on n1 CLUSTER SLOTS | grep -cE '^[0-9a-f]{40}$') == 6 ]]
}

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
        assert_equal "$kind: $status" "$kind: 0"
        assert_output ran
        assert_warned_once
        assert_message
        assert_stderr_has WAIT --replicas
        [[ $kind != sem* ]] || at x DEL x
        nothing_left
    done
}

@test "cluster://: latches, handles and --resize, too" {
    local handle
    try latch set -n x1 --count 1
    assert_success
    assert_warned_once
    try latch down -n x1
    assert_success
    assert_warned_once
    try acquire run -n x -l 10s
    assert_success
    assert_warned_once
    handle=$output
    try renew "$handle"
    assert_success
    assert_warned_once
    try release "$handle"
    assert_success
    assert_equal "$stderr" ""
    rlock sem -q -n x --permits 1 -- true
    try sem -n x --resize 2
    assert_success
    assert_warned_once
    at x DEL x
    nothing_left
}

@test "-q: not even that; --log json: a warning" {
    try run -q -n x -- true
    assert_success
    assert_equal "$stderr" ""
    try run --log json -n x -- true
    assert_success
    assert_equal "$(grep -c "$warning" <<<"$stderr")" 1
    assert_regex "$(grep "$warning" <<<"$stderr")" '"level":"warning"'
}

@test "--replicas 0: no warning; 1: 69, and why" {
    try run --replicas 0 -n x -- true
    assert_success
    assert_equal "$stderr" ""
    try run --replicas 1 -n x -- touch ran
    assert_failure 69
    assert_message
    assert_stderr_has WAIT --replicas
    assert_file_not_exist ran
    nothing_left
    try latch set --replicas 1 -n x1 --count 1
    assert_failure 69
    assert_stderr_has WAIT
    at x1 DEL x1
}

@test "a waiter is in when the lock is free, after a failover as well" {
    holds a run
    act b run -q
    wait_until 5 waiting "$(home x)" x 1
    failover "$(home x)"
    finish a b
    nothing_left
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

@test "one server: no line in doctor; with --replicas a finding" {
    server_start lone --rename-command WAIT no-such-wait
    well lone
    RLOCK_SERVER=$(server_url lone)
    assert_healthy
    refute_line --regexp '^[a-z]+ +wait '
    try run -n x -- true
    assert_success
    assert_equal "$stderr" ""
    try doctor --replicas 1
    assert_says finding wait 'has no WAIT'
}
