#!/usr/bin/env bats
# rw.bats: readers share, writers exclude; what is nested in what. The keys and messages: tools/scripts.

load ../../lib/rlock
load ../../lib/rw

setup() {
    rlock_setup
    export CLI="redis-cli -s ${RLOCK_SERVER#unix://}"
}

# heard TEXT...: these messages and no others, once there are as many.
heard() {
    wait_until 2 as_many_as $#
    redis PUBLISH 'redisson_rwlock:{x}' last >/dev/null
    wait_until 2 grep -q last messages
    assert_equal "$(sed -n '/^message$/,$p' messages | paste - - - | cut -f 3 | tr '\n' ' ')" "$* last "
}

as_many_as() {
    (($(grep -c '^message' messages) >= $1))
}

# nested WHO WORDS INNER WORD...: WHO holds x by `rlock WORDS -n x`; what it started in the background,
# INNER, holds it by `rlock WORD...`. Both last until `finish WHO`, `leave INNER`.
nested() {
    local who=$1 inner=$3 words
    read -r -a words <<<"$2"
    shift 3
    export SECTION
    log=$who start "${words[@]}" -n x -- sh -c 'who=$1 inner=$2; shift 2
        rlock "$@" -- "$SECTION" --log history --note "who=$inner" --until "end-$inner" &
        exec "$SECTION" --log history --note "who=$who" --until "end-$who"' sh "$who" "$inner" "$@"
    pid_of["$who"]=$pid
    wait_until 10 entered_section "$who"
    wait_until 10 entered_section "$inner"
}

leave() { # INNER
    brief "$1"
    wait_until 5 left_section "$1"
}

left_section() {
    grep -q " exit=[0-9].* who=$1\$" history
}

# --- sharing and excluding ---------------------------------------------------------------------

@test "readers share: all are in together, and tokens grow" {
    local who
    for who in a b c; do
        holds "$who" read -x
        assert_equal "$(field "$who")" 1
    done
    assert_equal "$(mode) $(redis HLEN x)" "read 4"
    assert_equal "$(told a token) $(told b token) $(told c token)" "1 2 3"
    finish a
    assert_equal "$(mode) $(field a)" "read "
    kept_out write
    finish c b
    assert_no_keys
}

@test "readers and writers at once: a writer is alone, nobody is forgotten, nothing is left" {
    local who
    for who in r1 w1 r2 r3 w2 r4 w3 r5; do
        log=$who start "$([[ $who == r* ]] && echo read || echo write)" -n x -- \
            "$SECTION" --log history --note "who=$who" --ms 20
        pid_of["$who"]=$pid
    done
    gone 0 r1 w1 r2 r3 w2 r4 w3 r5
    check_history --rule rw --min-sections 8 history
    assert_no_keys
}

@test "several names: all or none, read by many, written by one" {
    holds a read -n y
    holds b read -n y
    assert_equal "$(redis HLEN x) $(redis HLEN y)" "3 3"
    finish a
    redis HSET z mode write "$foreign_owner:write" 1
    redis PEXPIRE z 60000
    kept_out read -n z
    finish b
    kept_out write -n z
    assert_keys z
    redis DEL z
    try write -x -n y -n x -- sh -c 'echo "$RLOCK_NAME"; $CLI HGET x mode; $CLI HGET y mode'
    assert_output $'x\ny\nwrite\nwrite'
    assert_no_keys
}

# --- nested ------------------------------------------------------------------------------------

@test "read in read, write in write, read in write, write in read in write: at once, owner and token the same" {
    local kinds
    # shellcheck disable=SC2016 # for the inner shell
    local tell='echo "$RLOCK_OWNER $RLOCK_TOKEN"'
    for kinds in 'read read read' 'write write write' 'write read read' 'write read write'; do
        read -r -a kinds <<<"$kinds"
        try "${kinds[0]}" -n x -- sh -c "$tell; rlock ${kinds[1]} -x -n x -- sh -c '$tell; rlock ${kinds[2]} -x -n x -c \"\$0\"' '$tell'"
        assert_success
        assert_equal "${#lines[@]} ${lines[1]} ${lines[2]}" "3 ${lines[0]} ${lines[0]}"
        assert_no_keys
    done
    assert_equal "$(redis GET 'redisson_lock_token:{x}')" 4
}

@test "an inner reader that outlives the outer one keeps its own hold, and renews it" {
    nested a 'read -l 30s' b read -n x -l "$(ms 1000)"
    finish a
    assert_equal "$(field a)" 1
    assert_equal "$(redis --scan --pattern '*rwlock_timeout*')" "$(lease_key a 1)"
    (($(redis PTTL x) <= 1000 * SLOW))
    watch 2 kept_out write
    leave b
    wait_until 2 assert_no_keys
}

@test "read then write: refused at once, 64, one line, and nothing has changed" {
    local options
    holds other read
    for options in '-w 60s' -x '--prefer readers' '-n w'; do
        took 0 2000 rlock read -n x -- sh -c '$CLI --no-raw HGETALL x | sort >before; $CLI --scan | sort >>before
            rlock write -n x $1 -- touch ran; status=$?
            $CLI --no-raw HGETALL x | sort >after; $CLI --scan | grep -v redisson_lock_token:.w. | sort >>after; exit $status' sh "$options"
        assert_failure 64
        assert_message
        assert_stderr_has x reading
        assert_equal "$(cat after)" "$(cat before)"
    done
    assert_file_not_exist ran
    finish other
    assert_no_keys
}

@test "a process that outlived the hold is a stranger" {
    rlock write -n x -- sh -c '(until [ -e go ]; do sleep 0.01; done
        rlock read -x -n x -- true; echo $? >status) >/dev/null 2>&1 3>&- 4>&- &'
    assert_no_keys
    holds a write
    : >go
    wait_until 5 test -s status
    assert_equal "$(cat status)" 75
    finish a
}

# --- downgrade ---------------------------------------------------------------------------------

@test "a read hold outlives the write hold around it: readers that wait come in at once" {
    listen 'redisson_rwlock:{x}'
    nested a write b read -n x
    waits r1 read
    waits r2 read
    finish a
    wait_until 2 entered_section r1
    wait_until 2 entered_section r2
    assert_gap a r1 500
    assert_gap a r2 500
    assert_equal "$(mode) $(field b) $(field b :write)" "read 1 "
    finish r1 r2
    kept_out write
    leave b
    wait_until 2 assert_no_keys
    heard 1 0
}

@test "a read hold outlives the write hold around it: a writer that waits comes in after the read" {
    nested a write b read -n x
    waits w write
    redis CONFIG RESETSTAT
    finish a
    wait_until 5 tried 2
    refute_entered w
    brief w
    leave b
    gone 0 w
    assert_gap b w 1000
    assert_no_keys
}

tried() { # N scripts, at least
    (($(calls evalsha) >= $1))
}

@test "the read hold of a downgrade has its own lease, and is renewed" {
    nested a 'write -l 30s' b read -n x -l "$(ms 1000)"
    finish a
    (($(redis PTTL x) <= 1000 * SLOW)) || fail "$(redis PTTL x)"
    watch 2 kept_out write
    try read -x -n x -- true
    assert_success
    leave b
    wait_until 2 assert_no_keys
}
