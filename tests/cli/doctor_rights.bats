#!/usr/bin/env bats
# doctor_rights.bats: which rights rlock doctor misses, compared with what rlock(7) says of each kind.

load ../lib/rlock
load ../lib/actors
load ../lib/rights
load ../lib/acl
load ../lib/doctor

setup() {
    rlock_setup
    well main
}

# only RULE...: who comes over the Unix socket has these.
only() {
    assert_equal "$(redis ACL SETUSER default reset on nopass "$@")" OK
}

kinds=(run fair 'read , write' sem 'sem --plain' 'sem --resize' 'latch set' 'latch down' 'latch wait')

missing() { # KIND: as the line says
    sed -n "s/^finding *rights ${1/ ,/,} *missing: \(.*\); ACL.*/\1/p" <<<"$output" | tr ' ' '\n' | sort
}

@test "of each kind it misses all that the manual names, and nothing else" {
    local kind
    # With these alone scripts can ask.
    only '~*' '&*' +eval +evalsha +time +type
    try doctor x
    assert_failure 1
    for kind in "${kinds[@]}"; do
        assert_equal "$kind: $(missing "$kind" | grep -v '^&')" \
            "$kind: $(rules "${kind%% ,*}" | grep '^+' | grep -vxE '\+(eval|evalsha|time|type)' | sort)"
    done
}

@test "the rules of a kind are enough for it, and --kind asks for that one only" {
    local kind
    for kind in run fair read write sem latch; do
        mapfile -t words < <(if [[ $kind == latch ]]; then rules 'latch set' 'latch down' 'latch wait'
            else rules "$kind"; fi)
        [[ $kind != sem ]] || mapfile -t words < <(rules sem 'sem --plain' 'sem --resize')
        only "${words[@]}"
        try doctor --kind "$kind" x
        refute_line --regexp '^finding *rights'
        assert_line --regexp "^ok *rights .*$kind.*all that it needs"
        assert_equal "$(grep -c rights <<<"$output")" "$(case $kind in sem | latch) echo 3 ;; *) echo 1 ;; esac)"
    done
}

@test "a channel, a key or names that are not among the patterns" {
    mapfile -t words < <(rules run)
    only "${words[@]}" resetchannels
    try doctor --kind run x
    assert_says finding 'rights run' 'missing: .*&redisson_lock__channel:\{x\}\*;'
    only "${words[@]}" resetkeys '~x*' '~redisson*'
    try doctor --kind run x
    assert_says finding 'rights run' 'missing: ~rlock_info:\{x\} ~rlock_hold:\{x\} '
    only "${words[@]}"
    try doctor --kind run y
    assert_says finding 'rights run' 'missing: ~y ~redisson_lock_token:\{y\} '
    assert_says finding 'lock cycle' 'cannot take'
}

@test "no right to run scripts" {
    only '~*' '&*' +@all -@scripting
    try doctor
    assert_failure 1
    assert_says finding scripts '+eval'
    refute_output --partial 'rights run'
}
