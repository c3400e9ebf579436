#!/usr/bin/env bats
# preempt.bats: --preempt and --preemptible: a waiter asks the holder to end, who has agreed to that.

load ../../lib/rlock
load ../../lib/queue
load ../../lib/status

# yielded WHO BY: WHO said that BY asked for the lock, in one line.
yielded() {
    grep -qx "rlock: stopping the command of x: $(id -un)@$(uname -n) pid ${pid_of[$2]} asks for the lock" "$1.err" ||
        fail "$1 said: $(cat "$1.err")"
}

# is_in LOG OPTION... -- COMMAND...: a background rlock run OPTION..., with its messages in LOG.err; returns when the
# command has made the file in.
is_in() {
    rm -f in
    log=$1 start run "${@:2}"
    wait_until 5 test -e in
}

# asked_for STATUS KIND OPTION...: rlock KIND --preempt OPTION... of x ends so, and then the holder, by 79.
asked_for() {
    try "$2" --preempt "${@:3}" -n x -- true
    assert_equal "$status" "$1"
    reaps 79 "$pid"
}

@test "the holder's command gets SIGTERM, the lock is given back, and who asked gets it: run, fair, and both; status tells" {
    local holder waiter
    for holder in run fair; do
        for waiter in run fair; do
            holds a "$holder" --preemptible
            see x
            assert_seen 'v[0]["holders"][0]["preemptible"]' True
            brief b
            act b "$waiter" --preempt
            gone 79 a
            gone 0 b
            yielded a b
            grep -qx 'rlock: asked the holder of x to end' b.err
            assert_equal "$(order)" "a b"
            check_history history
            assert_no_keys
            rm -f history end-*
        done
    done
}

@test "all of the command ends before the next begins, SIGKILL after --kill-after included; renewed, and told once" {
    local holder
    log=a start run --preemptible -l "$(ms 900)" -n x -- sh -c \
        'setsid "$0" --log history --note who=deep --ignore-term --until never & "$0" --log history --note who=a --until never' "$SECTION"
    holder=$pid
    wait_until 5 entered_section a
    wait_until 5 entered_section deep
    brief b
    wait_until 5 listeners 1
    listen "$(redis PUBSUB CHANNELS 'rlock_break:*')"
    act b fair --preempt
    gone 0 b
    (($(grep -c '^preempt ' messages) > 1)) || fail "it was not asked again"
    reap "$holder"
    assert_equal "$status: $(wc -l <a.err)" "79: 1"
    # deep, which was killed, could note no exit: but that it was told to, before the other began.
    (($(stamp b enter) > $(sed -n 's/.*who=deep term=//p' history)))
    assert_equal "$(pgrep -fc "[w]ho=deep")" 0
}

@test "79 whatever -E says, though the command ends well, and for --once-per it has not succeeded" {
    is_in a -E 0 --once-per 1h --preemptible -n x -- sh -c 'trap "exit 0" TERM; : >in; while :; do sleep 0.01; done'
    try fair --preempt --once-per 1h -n x -- echo ran
    assert_equal "$status: $output" "0: ran"
    reaps 79 "$pid"
}

@test "who has not agreed is waited for: rlock's and Redisson's; a line says so" {
    holds a fair
    see x
    assert_seen '"preemptible" in v[0]["holders"][0]' False
    brief b
    act b fair --preempt
    wait_until 5 queued 1
    wait_until 5 grep -qx 'rlock: cannot ask the holder of x to end: it has no --preemptible; waiting for it' b.err
    finish a b
    foreign_hold x 60000
    brief c
    act c run --preempt
    wait_until 5 grep -q 'it has no --preemptible' c.err
    foreign_release x
    gone 0 c
    assert_equal "$(order)" "a b c"
}

@test "with --supersede the newest takes the place of those that wait as well" {
    holds a fair --preemptible
    redis CLIENT PAUSE 300 WRITE # meanwhile nobody gets in
    act b fair --preempt --preemptible --supersede
    gone 79 a
    wait_until 10 entered_section b
    brief c
    act c fair --preempt --preemptible --supersede
    gone 79 b
    gone 0 c
    assert_equal "$(order)" "a b c"
}

@test "a holder that comes after it was asked for is asked, too" {
    holds a fair
    joins b --preemptible
    brief c
    joins c --preempt
    finish a
    gone 79 b # maybe before its command began
    yielded b c
    gone 0 c
    assert_gap a c 3000
    ! grep -q 'it has no --preemptible' c.err || fail 'it asked, and was not the first in line'
}

listeners() { # N: holders that listen
    (($(redis PUBSUB CHANNELS 'rlock_break:*' | grep -c .) == $1))
}

@test "a holder that does not listen yet is asked twice a second" {
    foreign_hold x 60000
    redis HSET 'rlock_info:{x}' "$foreign_owner" '{"host":"elsewhere","pid":1,"preemptible":true}'
    start run --preempt -n x -- touch ran
    wait_until 5 was_asked 7
    assert_equal "$(grep -c 'asked the holder of x to end' err)" 1
    # Each holder is told of once.
    redis EVAL 'redis.call("DEL", KEYS[1])
        redis.call("HSET", KEYS[1], ARGV[1], 1)
        redis.call("PEXPIRE", KEYS[1], 60000)
        return redis.call("HSET", KEYS[2], ARGV[1], redis.call("HVALS", KEYS[2])[1])' 2 x 'rlock_info:{x}' "$foreign_waiter"
    wait_until 5 said_so_twice
    kill "$pid"
    reap "$pid"
}

was_asked() { # TIMES
    (($(calls publish) >= $1))
}

said_so_twice() {
    [[ $(grep -c 'asked the holder of x to end' err) == 2 ]]
}

@test "a message that is lost: it is asked again" {
    holds a run --preemptible
    wait_until 5 listeners 1
    redis CLIENT KILL TYPE pubsub
    brief b
    act b fair --preempt
    gone 79 a
    gone 0 b
}

@test "a short lease; two names; nested in a hold that agrees: 79; one inside that agrees alone is waited for" {
    is_in short --preemptible -l "$(ms 600)" -n x -- sh -c ': >in; exec sleep 60'
    asked_for 0 fair
    is_in two --preemptible -n w -n x -- sh -c ': >in; exec sleep 60'
    asked_for 0 fair
    is_in outer --preemptible -n x -- rlock run -n x -- sh -c ': >in; exec sleep 60'
    asked_for 0 run
    is_in inner -n x -- rlock run --preemptible -n x -- sh -c ': >in; $SECTION --until go'
    try run --preempt -w "$(ms 700)" -n x -- true
    assert_failure 75
    assert_stderr_has 'it has no --preemptible'
    : >go
    reaps 0 "$pid"
    assert_no_keys
}

@test "--min-hold: it ends when asked, and what is kept then is not asked" {
    is_in long --preemptible --min-hold 60s -n x -- sh -c ': >in; exec sleep 60'
    asked_for 75 run -w "$(ms 1500)"
    try run --preempt -w "$(ms 300)" -n x -- true
    assert_failure 75
    assert_stderr_has 'cannot ask the holder of x to end: it has ended, and --min-hold keeps the lock; waiting for it'
}

@test "the lease is lost while the command is being stopped: 76" {
    server_start lone
    is_in a -s "$(server_url lone)" -l "$(ms 1500)" --preemptible -n x -- sh -c 'trap "" TERM; : >in; while :; do sleep 0.01; done'
    redis_on lone PUBLISH "rlock_break:$(redis_on lone HKEYS x)" 'preempt somebody' >told
    wait_until 5 grep -q 'somebody asks for the lock' a.err
    redis_on lone DEL x
    reaps 76 "$pid"
}

@test "without the options nothing is published, and no thread is started for it" {
    foreign_hold x 60000
    listen 'rlock_break:*' "rlock_break:$foreign_owner"
    try fair -w "$(ms 300)" -n x -- true
    assert_failure 75
    assert_equal "$(grep -c preempt messages)" 0
    rlock run -n y -- true # the server knows the script then, which has the word
    monitor rlock run -n y -- true
    refute grep -q rlock_break monitor.txt
}
