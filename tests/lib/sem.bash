# sem.bash: the semaphore x, and who waits for its permits.
# shellcheck shell=bash

source "$TESTS/lib/actors.bash"

sem_channel='redisson_sc:{x}'

assert_permits() { # AVAILABLE IN-USE
    assert_equal "$(redis GET x) and $(redis ZCARD '{x}:timeout') in use" "$1 and $2 in use"
}

# N permits, all of them available, and nothing else is left of the semaphore.
assert_at_rest() { # N
    assert_equal "$(redis GET x)" "$1"
    assert_keys x
}

# waits WHO [OPTION...]: it listens, and has looked since.
waits() {
    local length
    length=$(redis ZCARD 'rlock_waiters:{x}')
    act "$1" sem -q "${@:2}"
    wait_until 5 in_line x $((length + 1))
}

entries() { # N: so many sections have begun
    (($(grep -c ' exit=- ' history) == $1))
}
