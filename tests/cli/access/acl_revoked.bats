#!/usr/bin/env bats
# acl_revoked.bats: rights, users and passwords that are taken away from those that wait or hold.

load ../../lib/rlock
load ../../lib/actors
load ../../lib/rights
load ../../lib/acl
load ../../lib/protected

# denied TIMES: so often has the server refused something since the last ACL LOG RESET; but the channel on
# which a holder would hear of a break, and can do without.
denied() {
    redis ACL LOG | awk -v times="$1" '/^count$/ {getline count} /^reason$/ {getline reason}
        /^object$/ {getline object; if (object !~ /^rlock_break:/) all += count} END {exit !(all >= times)}'
}

gone_key() { # KEY
    (($(redis EXISTS "$1") == 0))
}

# allowed [OPTION...]: a section of x that beats, whose rlock has the rights of run.
allowed() {
    allow run
    redis ACL LOG RESET >/dev/null
    protected "$@"
}

# The command is dead before the lease is over, and not long before; rlock says 76, and why.
assert_stopped() { # WORD...
    local end
    end=$(expiry x)
    reap "$holder"
    assert_equal "$status" 76
    (($(beat beat) < end)) || fail "alive after the lease's end"
    run grep 'exit=[0-9]' history
    assert_failure 1
    stderr=$(grep -v "cannot renew x .*; trying again" err)
    assert_message
    assert_stderr_has "$@"
}

# The same where the test can't ask the server for the lease's end.
assert_stopped_unseen() {
    reap "$holder"
    assert_equal "$status" 76
    (($(redis EXISTS x) == 1)) || fail "stopped after the lease's end"
    run grep 'exit=[0-9]' history
    assert_failure 1
    stderr=$(grep -v "cannot renew x .*; trying again" err)
    assert_message
}

@test "76: a holder who may not renew any more tries on until the deadline" {
    allowed -l "$(ms 2000)"
    allow run +pexpire
    wait_until 5 denied 2
    assert_stopped x
    allow run
    wait_until 5 gone_key x
    assert_no_keys
}

@test "a right that is given back before the deadline has done no harm" {
    allowed -l "$(ms 2000)"
    allow run +pexpire
    wait_until 5 denied 1
    allow run
    alive_for 2500
    : >let-go
    reap "$holder"
    assert_equal "$status $(wc -l <err)" "5 2"
    assert_regex "$(tail -n 1 err)" '^rlock: renewed x on .* again after '
    assert_no_keys
}

@test "76: a password that is set meanwhile" {
    allowed -l "$(ms 900)"
    redis ACL SETUSER default resetpass '>secret' >/dev/null
    redis CLIENT KILL USER default >/dev/null
    assert_stopped_unseen
}

@test "76: a user that is switched off" {
    allowed -l "$(ms 900)"
    redis ACL SETUSER default off >/dev/null
    redis CLIENT KILL USER default >/dev/null
    assert_stopped_unseen
}

@test "a lock that may not be given back stays for the rest of its lease, and the command's status too" {
    allowed -l "$(ms 1500)"
    allow run +evalsha
    : >let-go
    reap "$holder"
    assert_equal "$status" 5
    stderr=$(grep -v "cannot renew x .*; trying again" err)
    assert_message
    assert_stderr_has evalsha
    (($(redis PTTL x) <= 1500 * SLOW))
    wait_until 5 gone_key x
    assert_no_keys
}

# Who waits is refused at the next try, and leaves nothing that stays.
refused_while_waiting() { # KIND WITHOUT COMMAND...: what happens then on the server
    allow "$1"
    occupy "$1"
    log=waiter start "${how[$1]}" -q -n x -- touch ran
    wait_until 5 listening
    allow "$1" "$2"
    "${@:3}" >/dev/null
    redis CLIENT KILL TYPE pubsub >/dev/null
    reap "$pid" 10
    assert_equal "$1 without $2: $status" "$1 without $2: 77"
    stderr=$(cat waiter.err)
    assert_refused "$1 without $2"
    redis FLUSHALL >/dev/null
}

@test "77: who waits may not take it any more" {
    local kind
    for kind in run fair read write; do
        refused_while_waiting "$kind" +incr redis DEL x
    done
}

@test "77: who waits may not listen any more" {
    local kind
    for kind in run fair read write; do
        refused_while_waiting "$kind" +subscribe true
    done
}

@test "77: who waits is switched off" {
    allow run
    occupy run
    start run -q -n x -- touch ran
    wait_until 5 listening
    redis ACL SETUSER default off >/dev/null
    redis CLIENT KILL USER default >/dev/null
    reap "$pid" 10
    assert_equal "$status" 77
    stderr=$(grep -v "cannot renew x .*; trying again" err)
    assert_refused
}
