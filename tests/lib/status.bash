# status.bash: what `rlock status` shows.
# shellcheck shell=bash

JAVA=77777777-2222-4333-8444-555555555555:7 # an owner of Redisson's

# see ARG...: rlock status --json ARG..., which must succeed; what it prints must fit the schema
# and is kept in seen.
see() {
    try status --json "$@"
    assert_success
    seen=$output
    run python3 "$TOOLS/schema.py" "$PROJECT/man/status.schema.json" <<<"$seen"
    assert_success
}

# value EXPRESSION: of what was seen, in python: v is the array, by its objects by name.
value() {
    python3 -c 'import json, sys
v = json.loads(sys.argv[1])
by = {lock["name"]: lock for lock in v}
print(eval(sys.argv[2]))' "$seen" "$1"
}

assert_seen() { # EXPRESSION EXPECTED
    assert_equal "$1: $(value "$1")" "$1: $2"
}

changes() {
    redis INFO persistence | tr -d '\r' | sed -n 's/^rdb_changes_since_last_save://p'
}

# see_unchanged ARG...: sees it, and writes nothing. Who waits meanwhile may beat: then it is seen again.
see_unchanged() {
    local round before
    for round in 1 2 3 4; do
        before=$(changes)
        see "$@"
        [[ $(changes) != "$before" ]] || return 0
    done
    fail "something was written in each of $round rounds"
}

# How many wait for x, in its line and its queue.
waits_in_line() { # N
    (($(redis ZCARD 'rlock_waiters:{x}') + $(redis LLEN 'redisson_lock_queue:{x}') >= $1))
}

# By bats' run.
on_terminal() { # COLUMNS STEP... -- ARG...
    local steps=() columns=$1
    shift
    while [[ $1 != -- ]]; do
        steps+=("$1")
        shift
    done
    run python3 "$TOOLS/terminal.py" --timeout $((20 * SLOW)) --columns "$columns" "${steps[@]}" -- "$RLOCK" "${@:2}"
}
