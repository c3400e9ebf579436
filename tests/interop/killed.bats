#!/usr/bin/env bats
# killed.bats: a holder that is killed has it until its lease is over, and no longer, for the other side too.

load ../lib/rlock
load ../lib/actors
load interop

# Each kind on a name of its own, so that all wait at the same time; what reads keeps a writer waiting.
kinds=(lock fair write read permits)

# enter_each LETTER [OPTION=VALUE]: LETTER-KIND has each kind.
enter_each() {
    local kind
    for kind in "${kinds[@]}"; do
        enters "$1-$kind" "$kind" "$kind" "${@:2}"
    done
}

await_each() { # LETTER
    local kind
    for kind in "${kinds[@]}"; do
        awaits "$1-$kind" "${kind/read/write}" "$kind"
    done
}

# each_enters LETTER MS...: when the lease of its kind is over.
each_enters() {
    local letter=$1 kind
    shift
    for kind in "${kinds[@]}"; do
        enters_at "$1" "$letter-$kind"
        shift
    done
    leaves "${kinds[@]/#/$letter-}"
}

# renewed MS...: when the leases ended before.
renewed() {
    local -a now
    local i
    read -ra now <<<"$(ends "${kinds[@]}")"
    for i in "${!now[@]}"; do
        ((now[i] > ${*:i+1:1})) || return 1
    done
}

@test "a killed Java service: rlocks that wait enter when its leases, renewed until then, are over" {
    local -a ends
    assert_answer true k0 set permits permits
    local kinds=("${kinds[@]/permits/}") # which nobody renews
    unset 'kinds[-1]'
    enter_each k
    await_each a
    read -ra ends <<<"$(ends "${kinds[@]}")"
    wait_until 5 renewed "${ends[@]}"
    enters k-permits permits permits lease=$((3 * DYING_MS))
    awaits a-permits permits permits
    kinds+=(permits)
    read -ra ends <<<"$(ends "${kinds[@]}")"
    java_kill k
    each_enters a "${ends[@]}"
    assert_rest_ends permits
    assert_equal "$(redis GET permits)" 1
}

@test "a killed rlock: Java threads that wait enter when its leases are over" {
    local -a ends
    enter_each a lease="$DYING_MS"
    await_each j
    read -ra ends <<<"$(ends "${kinds[@]}")"
    signal KILL "${kinds[@]/#/a-}"
    gone 137 "${kinds[@]/#/a-}"
    each_enters j "${ends[@]}"
    assert_rest_ends permits
    assert_equal "$(redis GET permits)" 1
}
