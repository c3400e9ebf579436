# queue.bash: the fair queue of x, and those who stand in it.
# shellcheck shell=bash

source "$TESTS/lib/actors.bash"

queue='redisson_lock_queue:{x}'
scores='redisson_lock_timeout:{x}'
foreign_waiter=99999999-2222-4333-8444-555555555555:7

queued() { # N
    (($(redis LLEN "$queue") == $1))
}

# joins WHO [OPTION...]: a waiter, the last of the queue now.
joins() {
    local length
    length=$(redis LLEN "$queue")
    act "$1" fair "${@:2}"
    wait_until 5 queued $((length + 1))
}

# join WHO...: each after the one before stands; their sections will be brief.
join() {
    local who
    for who in "$@"; do
        brief "$who"
        joins "$who"
    done
}
