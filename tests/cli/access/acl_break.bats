#!/usr/bin/env bats
# acl_break.bats: rlock break as a user who may do what rlock-server(7) says, and no more; or one word less.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/rights
load ../../lib/acl

# lock_of KIND: somebody else's, and someone waits for it.
lock_of() {
    redis FLUSHALL >/dev/null
    case $1 in
    fair)
        foreign_hold x 60000
        redis RPUSH 'redisson_lock_queue:{x}' waiter
        redis ZADD 'redisson_lock_timeout:{x}' 9999999999999 waiter
        ;;
    number) redis SET x 1 ;;
    *) occupy "$1" ;;
    esac >/dev/null
}

# state: of what lock_of has made.
state() {
    redis EXISTS x '{x}:timeout' 'redisson_lock_queue:{x}'
}

@test "its rules are enough" {
    local kind
    allow break
    for kind in fair read write sem; do
        lock_of "$kind"
        try break --force x
        assert_success
        assert_stderr_has 'broke x'
    done
    lock_of number
    run -65 rlock break --force x
}

@test "each of them is missed: 77, and nothing was broken" {
    local word kind before missed
    for word in $(rules break | grep '^+' | grep -vxE '\+(eval|publish)'); do
        allow break "$word"
        missed=
        for kind in fair read write sem number; do
            lock_of "$kind"
            before=$(state)
            try break --force x
            ((status == 77)) || continue
            missed=yes
            assert_equal "$word: $(state)" "$word: $before"
        done
        [[ -n $missed ]] || fail "nobody misses $word"
    done
}
