#!/usr/bin/env bats
# lock.bats: what stands in Redis while a lock is held, and who it keeps out: Redisson's layout.

load ../../lib/rlock

# field KEY: of the JSON object on standard input.
field() {
    python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

@test "a hold is Redisson's hash: owner with pid and host, one hold, the lease; rlock_info says who it is" {
    local owner ttl info
    hold x
    owner=$(redis HKEYS x)
    assert_regex "$owner" "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:$holder@$(uname -n)\$"
    assert_equal "$(redis HVALS x)" 1
    ttl=$(redis PTTL x)
    ((ttl <= 30000 && ttl > 30000 - 3000 * SLOW))
    info=$(redis HGET 'rlock_info:{x}' "$owner")
    assert_equal "$(field pid <<<"$info") $(field host <<<"$info") $(field user <<<"$info")" "$holder $(uname -n) $(id -un)"
    assert_regex "$(field command <<<"$info")" '^sh -c '
    (($(now_ms) - $(field since <<<"$info") < 20000))
    let_go x
    reap "$holder"
    assert_no_keys
}

@test "a plain run does not map the TLS libraries" {
    hold x
    run grep -E 'libssl|libcrypto' "/proc/$holder/maps"
    assert_failure 1
    let_go x
    reap "$holder"
}
