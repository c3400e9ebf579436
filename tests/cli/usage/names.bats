#!/usr/bin/env bats
# names.bats: the hidden `rlock status --list-names`, which completions ask: at once or not at all, and
# nothing is started or written for it.

load ../../lib/rlock

@test "the names of status, a line each, whatever is beside the locks: held, waited for, with braces" {
    local kind name permits waiter waiters=()
    redis SET number 7
    redis HSET hash field value
    rlock latch set -n app:two --count 2
    for kind in run fair read write sem; do
        [[ $kind == sem ]] && permits=(--permits 1) || permits=()
        waiter=${kind/read/write}
        for name in "a $kind" ":$kind{tag}s"; do
            rlock acquire "$kind" -n "$name" "${permits[@]}" -l 60s >handle
            start "$waiter" -n "$name" "${permits[@]}" -- true
            waiters+=("$pid")
        done
    done
    wait_until 10 eval '(($("$RLOCK" status | grep -cw waits) == 10))'
    rlock run --once-per 1h -n 'ran{once}' -- true
    try status --list-names
    assert_equal "$status$stderr" 0
    assert_equal "$output" "$(rlock status --json | python3 -c 'import json, sys
print("\n".join(sorted(lock["name"] for lock in json.load(sys.stdin))))')"
    assert_equal "$(grep -c . <<<"$output")" 12
    kill "${waiters[@]}"
}

@test "a name that would be more than a line is left out" {
    local name
    foreign_hold fine 60000
    for name in $'bad\nname' $'bad\xe2\x80\xaename'; do
        foreign_hold "$name" 60000
        redis SET "redisson_lock_token:{$name}" 1
    done
    assert_equal "$(rlock status --list-names)" fine
}

@test "a server that does not answer is not waited for, and none is started" {
    server_start silent
    freeze silent
    took 0 2000 rlock status --list-names -s "$(server_url silent)"
    assert_equal "$status$output" 69
    run -69 rlock status --list-names -s "local:$PWD/dir"
    assert_output ''
    assert_file_not_exist dir
}
