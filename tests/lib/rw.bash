# rw.bash: the read/write lock x, who holds it and who waits for it.
# shellcheck shell=bash

source "$TESTS/lib/actors.bash"

marker='{x}:wait_write'

# waits WHO KIND [OPTION...]: it stands in line, and listens.
waits() {
    local length
    length=$(($(redis ZCARD 'rlock_waiters:{x}') + $(redis ZCARD 'rlock_writers:{x}')))
    act "$@"
    wait_until 5 in_line x $((length + 1))
}

# lease_key WHO [I]: of its I-th read hold.
lease_key() {
    echo "{x}:$(told "$1" owner):rwlock_timeout:${2:-1}"
}

# field WHO: how many holds; '' for none.
field() {
    redis HGET x "$(told "$1" owner)"
}

# watch SECONDS COMMAND...: the command must succeed all that time.
watch() {
    local end=$(($(now_ms) + $1 * 1000 * SLOW))
    shift
    while (($(now_ms) < end)); do
        "$@" || return 1
        sleep 0.02
    done
}
