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

# field WHO [:write]: how many holds; '' for none.
field() {
    redis HGET x "$(told "$1" owner)${2:-}"
}

mode() {
    redis HGET x mode
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

# Redisson's clients, in the same hash.
foreign_key="{x}:$foreign_owner:rwlock_timeout" # and :1, :2...

# foreign_reads OWNER MS; foreign_writes MS: as Redisson does.
foreign_reads() {
    redis HSET x mode read >/dev/null
    redis SET "{x}:$1:rwlock_timeout:$(redis HINCRBY x "$1" 1)" 1 PX "$2" >/dev/null
    (($(redis PTTL x) > $2)) || redis PEXPIRE x "$2" >/dev/null
}

foreign_writes() {
    redis HSET x mode write "$foreign_owner:write" 1 >/dev/null
    redis PEXPIRE x "$1" >/dev/null
}
