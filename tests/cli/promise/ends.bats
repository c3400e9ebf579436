#!/usr/bin/env bats
# ends.bats: how a command comes to its end, and what that end counts as, where rlock could easily take it for another.

load ../../lib/rlock

setup() {
    rlock_setup
    tree=TREE=$TEST_MARK
}

@test "--no-renew --on-lost warn: a command that ends after the lease has lost it, whatever it says of itself" {
    local kind kinds=(run fair read write 'sem --permits 2') pids=()
    for kind in "${kinds[@]}"; do
        # shellcheck disable=SC2086 # words
        log=${kind%% *} start $kind --no-renew --on-lost warn -l "$(ms 300)" -n "${kind%% *}" -- \
            sh -c 'sleep "$0"; echo ran to its end' "$SLOW"
        pids+=("$pid")
    done
    for kind in "${kinds[@]%% *}"; do
        reap "${pids[0]}"
        pids=("${pids[@]:1}")
        assert_equal "$kind: $status $(cat "$kind.out")" "$kind: 76 ran to its end"
        stderr=$(cat "$kind.err")
        assert_message
    done
}

is_stopped() {
    [[ -s stopped ]] && in_state "$(cat stopped)" T
}

@test "a grandchild that is stopped goes on, and ends as its SIGTERM tells it to: the lease is lost, --timeout" {
    local expected options event
    cat >grandchild <<'EOS'
        trap 'echo >orderly; exit' TERM
        echo $$ >stopped
        kill -STOP $$
        while :; do sleep 0.1; done
EOS
    while read -r expected event options; do
        rm -f stopped orderly
        # shellcheck disable=SC2086
        start run $options -n x -- env "$tree" sh -c 'sh grandchild & wait'
        wait_until 10 is_stopped
        [[ $event == time ]] || redis DEL x
        reap "$pid"
        assert_equal "$event: $status" "$event: $expected"
        assert_file_exist orderly
        assert_no_processes "$tree"
    done <<END
76 loss -l $(ms 6000)
124 time --timeout $(ms 1500)
END
}

@test "rlock is stopped and its guardian is killed: the command does not live on unguarded" {
    start run -n x -- env "$tree" sleep 600
    wait_until 10 marks 1
    kill -STOP "$pid"
    wait_until 5 in_state "$pid" T
    kill -KILL "$(guardian_of "$pid")"
    wait_until 5 none_marked "$tree"
    in_state "$pid" T || fail "it was rlock that ended the command"
    kill -CONT "$pid"
    reap "$pid"
    assert_equal "$status" 137
}

marks() { # N
    (($(marked "$tree" | wc -l) >= $1))
}
