#!/usr/bin/env bats
# sem_crowd.bats: many wait for permits: whose turn it is, and those among them who stand still.

load ../../lib/rlock
load ../../lib/sem

# churn OPTION...: takes a permit and gives it back, again and again, until over.
churn() {
    while [[ ! -e over ]]; do
        "$RLOCK" sem -q -n x "$@" -- "$SECTION" --log small --ms 50
    done
}

# A churn is under way in this many shells.
churning() { # NUMBER OPTION...
    local n number=$1
    shift
    shells=()
    for ((n = 0; n < number; n++)); do
        churn "$@" 3>&- 4>&- &
        shells+=($!)
    done
    wait_until 10 test -s small
}

churned() {
    : >over
    wait "${shells[@]}"
}

@test "who asks for all permits gets them within seconds though others keep coming, and then they go on" {
    local option begin before
    for option in '' --plain; do
        rm -f over small
        # shellcheck disable=SC2086
        rlock sem -n x $option --permits 3 -- true
        # shellcheck disable=SC2086
        churning 5 $option
        begin=$(now_ms)
        # shellcheck disable=SC2086
        act "big$option" sem -q $option --take 3
        wait_until 15 entered_section "big$option"
        echo "after $(($(now_ms) - begin)) ms"
        before=$(wc -l <small)
        finish "big$option"
        wait_until 10 eval '(($(wc -l <small) > before + 20))'
        churned
        assert_at_rest 3
        redis FLUSHALL >/dev/null
    done
}

@test "17 that stand still do not keep those behind them from a free permit" {
    local n stopped=()
    holds a sem --permits 1
    brief next last
    for n in {1..17}; do
        brief "$n"
        act "$n" sem -q
        stopped+=("$n")
    done
    wait_until 10 standing 17
    waits next
    waits last
    signal STOP "${stopped[@]}"
    finish a
    gone 0 next
    gone 0 last
    assert_gap a next 6000
    signal CONT "${stopped[@]}"
    for n in "${stopped[@]}"; do
        gone 0 "$n"
    done
    assert_at_rest 1
}

@test "30 permits come back at once: 30 waiters have them within a moment" {
    local n all=()
    holds a sem --permits 30 --take 30
    for n in {1..30}; do
        act "$n" sem -q
        all+=("$n")
    done
    wait_until 20 standing 30
    finish a
    wait_until 2 entries 31
    finish "${all[@]}"
    assert_at_rest 30
}
