#!/usr/bin/env bats
# sem_wait.bats: waiting for permits: who wakes and when, and what a waiter leaves behind. How a wait ends: waits.bats.

load ../../lib/rlock
load ../../lib/sem

# soon WHO: it enters within a second, and ends well.
soon() {
    wait_until 1 entered_section "$1"
    finish "$1"
}

@test "a small request passes a big one that does not fit" {
    holds a sem --permits 3 --take 2
    waits big --take 2
    try sem -n x -x -- true
    assert_success
    holds b sem
    waits small
    finish b
    soon small
    refute_entered big
    finish a
    soon big
    assert_at_rest 3
}

@test "--resize up: waiters enter at once, whatever number they came with" {
    holds a sem --permits 1
    waits with-old --permits 1
    waits without
    rlock sem -n x --resize 3
    soon without
    soon with-old
    finish a
    assert_at_rest 3
}

@test "--plain: a release wakes those whose request fits, and a Redisson client's release does" {
    redis SET x 3
    holds a sem --plain --permits 3
    redis DECRBY x 2 # two that a Redisson client has
    waits two --plain --take 2
    waits one --plain
    finish a
    soon one
    refute_entered two
    redis EVAL 'return redis.call("PUBLISH", KEYS[2], redis.call("INCRBY", KEYS[1], 2))' 2 x "$sem_channel"
    soon two
    assert_at_rest 3
}

@test "a permit whose lease of 2 s ends comes back to a waiter after 1.9 to 2.1 s" {
    local begin late added
    redis SET x 1
    beside_begin
    begin=$(now_ns)
    foreign_take foreign-permit-1 2000
    brief next
    waits next --permits 1
    gone 0 next
    beside_end
    late=$((($(stamp next enter) - begin) / 1000000))
    ((late >= 1900 && late <= 2100 + added)) || fail "after $late ms"
    assert_at_rest 1
}

@test "30 permits come back at once: 30 waiters have them within a moment" {
    local n all=()
    holds a sem --permits 30 --take 30
    for n in {1..30}; do
        act "$n" sem -q
        all+=("$n")
    done
    wait_until 20 in_line x 30
    finish a
    wait_until 2 entries 31
    finish "${all[@]}"
    assert_at_rest 30
}
