#!/usr/bin/env bats
# rw_wait.bats: who waits for a read/write lock, and who goes first: a waiting writer holds back new
# readers, whatever becomes of it.

load ../../lib/rlock
load ../../lib/rw

marked_for() { # WHO: it is the writer that readers are held back for
    [[ $(redis GET "$marker") == *:"${pid_of[$1]}@$(uname -n)" ]]
}

unmarked() {
    (($(redis EXISTS "$marker") == 0))
}

@test "a waiting writer holds back new readers, but not one that re-enters" {
    start read -n x -- sh -c 'until [ -e go ]; do sleep 0.01; done; rlock read -x -n x -- rlock read -n x -- true; echo $? >status
        until [ -e let-go ]; do sleep 0.01; done'
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

@test "--prefer readers: no marker, new readers come in, the writer enters when there are none" {
    holds a read
    brief w
    waits w write --prefer readers
    rlock read -x -n x -- true
    holds b read
    finish a
    rlock read -x -n x -- true
    unmarked
    refute_entered w
    finish b
    gone 0 w
    assert_gap b w 1000
    assert_no_keys
}
