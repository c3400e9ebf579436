#!/usr/bin/env bats
# rw.bats: what is nested in what; who loses a hold; Redisson's writer; and who goes first: a waiting writer holds back new
# readers, whatever becomes of it. Of each kind: holds.bats, promise/lost_replies.bats. The keys and messages, Redisson's
# readers: tools/scripts.

load ../../lib/rlock
load ../../lib/rw

setup() {
    rlock_setup
    export CLI="redis-cli -s ${RLOCK_SERVER#unix://}"
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

@test "an inner run or read that outlives the hold around it keeps its own, with its own lease, and renews it" {
    local outer inner
    while read -r outer inner; do
        nested a "$outer -l 30s" b "$inner" -n x -l "$(ms 1000)"
        finish a
        assert_equal "$outer: $(field a)" "$outer: 1"
        (($(redis PTTL x) <= 1000 * SLOW)) || fail "$outer: $(redis PTTL x)"
        if [[ $inner == read ]]; then
            assert_equal "$outer: $(redis --scan --pattern '*rwlock_timeout*')" "$outer: $(lease_key a 1)"
            rlock read -x -n x -- true
        fi
        watch 2 kept_out "${inner/read/write}"
        leave b
        wait_until 2 assert_no_keys
        rm history end-*
    done <<'END'
run run
read read
write read
END
}

@test "read then write: refused at once, 64, one line, and nothing has changed" {
    local options
    holds other read
    for options in '-w 60s' -x '-n w'; do
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

# --- faults ------------------------------------------------------------------------------------

@test "a reader's lease or its field is gone: 76, and nothing is made again; other readers go on" {
    holds a read -l "$(ms 1000)"
    holds b read -l "$(ms 1000)"
    holds c read -l "$(ms 1000)"
    redis DEL "$(lease_key a)"
    redis HDEL x "$(told b owner)"
    gone 76 a b
    assert_regex "$(cat a.err)" '^rlock: lost x'
    assert_equal "$(field a)$(field b) $(field c)" " 1"
    finish c
    wait_until 2 assert_no_keys
}

# --- Redisson's --------------------------------------------------------------------------------

@test "the end of a Redisson client's write hold lets all readers in, or the writer that waits" {
    local row all who
    for row in 'read r1 r2 r3 r4 r5' 'write w'; do
        read -ra all <<<"$row"
        redis HSET x mode write "$foreign_owner:write" 1
        redis PEXPIRE x 60000
        for who in "${all[@]:1}"; do
            waits "$who" "${all[0]}"
        done
        redis DEL x >/dev/null
        redis PUBLISH 'redisson_rwlock:{x}' 1 >/dev/null
        for who in "${all[@]:1}"; do
            wait_until 1 entered_section "$who"
        done
        finish "${all[@]:1}"
        assert_no_keys
    done
}

# --- waiting, and who goes first --------------------------------------------------------------------

marked_for() { # WHO: it is the writer that readers are held back for
    [[ $(redis GET "$marker") == *:"${pid_of[$1]}@$(uname -n)" ]]
}

unmarked() {
    (($(redis EXISTS "$marker") == 0))
}

@test "a waiting writer holds back new readers, but not one that re-enters" {
    start read -n x -- sh -c '$SECTION --until go; rlock read -x -n x -- rlock read -n x -- true; echo $? >status
        $SECTION --until let-go'
    holder=$pid
    wait_until 5 assert_held x
    waits w write
    kept_out read
    took 300 1500 rlock read -n x -w 300ms -- true
    assert_failure 75
    : >go
    wait_until 5 test -s status
    assert_equal "$(cat status)" 0
    kept_out read
    refute_entered w
    brief w
    : >let-go
    gone 0 w
    reap "$holder"
    assert_no_keys
}

@test "a writer that leaves lets the readers in at once: by --wait, SIGTERM, SIGINT" {
    local leave expected
    holds first read
    for leave in 'TERM 143' 'INT 130' 'wait 75'; do
        read -r leave expected <<<"$leave"
        waits "w-$leave" write -w "$([[ $leave == wait ]] && ms 1200 || echo forever)"
        wait_until 2 marked_for "w-$leave"
        waits "r-$leave" read
        [[ $leave == wait ]] || signal "$leave" "w-$leave"
        gone "$expected" "w-$leave"
        unmarked
        wait_until 1 entered_section "r-$leave"
    done
    finish first r-TERM r-INT r-wait
    assert_no_keys
}

@test "the writer of a writer: readers come after both" {
    holds w1 write
    brief r w2
    waits r read
    waits w2 write
    finish w1
    gone 0 w2 r
    assert_equal "$(order)" "w1 w2 r"
    assert_gap w1 w2 500
    assert_gap w2 r 500
    assert_no_keys
}

@test "the first writer in line leaves: the readers stay held back for the next" {
    holds r read
    waits w1 write
    wait_until 2 marked_for w1
    brief w2
    waits w2 write
    signal TERM w1
    gone 143 w1
    kept_out read
    wait_until 3 marked_for w2
    kept_out read
    finish r
    gone 0 w2
    assert_gap r w2 500
    assert_no_keys
}
