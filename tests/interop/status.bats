#!/usr/bin/env bats
# status.bats: `rlock status` shows what Java services hold and wait for; `rlock break` frees it for all.

load ../lib/rlock
load ../lib/queue
load interop

# said NAME JSON-PATH: of what status says of it, as Python has it.
said() {
    rlock status --json "$1" | python3 -c 'import json, sys
print(eval("it" + sys.argv[1], {"it": json.load(sys.stdin)[0], "len": len, "sorted": sorted}))' "$2"
}

@test "status shows Java's holders of each kind" {
    local kind
    # As the keys show it: a fair lock that nobody waits for is like any other.
    local -A shown=([lock]=run [fenced]=run [fair]=run [read]=read [write]=write [permits]=sem)
    assert_answer true j0 set permits permits permits=1
    for kind in lock fenced fair read write permits; do
        enters "j-$kind" "$kind" "$kind" lease=$((60000 * SLOW))
        assert_equal "$kind $(said "$kind" "['state']")" "$kind held"
        assert_equal "$kind $(said "$kind" "['kind']")" "$kind ${shown[$kind]}"
        assert_equal "$(said "$kind" "['holders'][0]['host']")" None
        (($(said "$kind" "['holders'][0]['ttl_ms']") > 30000))
        [[ $kind == permits ]] || assert_equal "$(said "$kind" "['holders'][0]['owner']")" "$(told "j-$kind" owner)"
        [[ $kind != fenced ]] || assert_equal "$(said fenced "['token']")" "$(told j-fenced token)"
        [[ $kind != permits ]] || assert_equal "$(said permits "['permits']")" "{'total': 1, 'available': 0}"
        leaves "j-$kind"
        [[ $kind == permits ]] || assert_equal "$kind $(said "$kind" "['state']")" "$kind free"
    done
}

@test "status shows a fair queue of both in its order" {
    local owners who
    enters j1 fair x
    awaits a fair x
    comes j2 fair x
    wait_until 5 queued 2
    owners=$(redis LRANGE "$queue" 0 -1 | tr '\n' ' ')
    assert_equal "$(said x "['kind']")" fair
    assert_equal "$(said x " and ' '.join(waiter['owner'] for waiter in it['waiters'])") " "$owners"
    for who in j1 a j2; do
        wait_until 5 entered_section "$who"
        leaves "$who"
    done
}

# First a Java thread waits, then an rlock.
@test "break frees what a Java service holds, and wakes rlocks and Java threads" {
    local kind wants broken
    assert_answer true j0 set permits permits permits=1
    for kind in lock fair read write permits; do
        wants=${kind/read/write}
        enters "k-$kind" "$kind" "$kind" lease=$((60000 * SLOW))
        awaits "j-$kind" "$wants" "$kind"
        broken=$(now_ns)
        rlock break --force "$kind"
        wait_until 5 entered_section "j-$kind"
        awaits "a-$kind" "$wants" "$kind"
        rlock break --force "$kind"
        wait_until 5 entered_section "a-$kind"
        echo "$kind: $((($(stamp "j-$kind" enter) - broken) / 1000000)) ms"
        leaves "a-$kind"
    done
    assert_rest_ends permits
    assert_equal "$(redis GET permits)" 1
}
