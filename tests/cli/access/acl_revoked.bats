#!/usr/bin/env bats
# acl_revoked.bats: rights, users and passwords that are taken away from those that wait or hold.

load ../../lib/rlock
load ../../lib/rights
load ../../lib/acl
load ../../lib/protected

# denied TIMES: so often has the server refused something since the last ACL LOG RESET; but the channel on
# which a holder would hear of a break, and can do without.
denied() {
    redis ACL LOG | awk -v times="$1" '/^count$/ {getline count} /^reason$/ {getline reason}
        /^object$/ {getline object; if (object !~ /^rlock_break:/) all += count} END {exit !(all >= times)}'
}

# allowed [OPTION...]: a section of x that beats, whose rlock has the rights of run.
allowed() {
    allow run
    redis ACL LOG RESET >/dev/null
    protected "$@"
}

@test "a right that is given back before the deadline has done no harm; else the holder tries on until then: 76" {
    local end
    allowed -l "$(ms 2000)"
    allow run +pexpire
    wait_until 5 denied 1
    allow run
    alive_for 2500
    grep -q '^rlock: renewed x on .* again after ' err
    redis ACL LOG RESET
    allow run +pexpire
    wait_until 5 denied 2
    end=$(expiry x)
    assert_lost
    (($(beat beat) < end)) || fail "alive after the lease's end"
    allow run
    wait_until 5 assert_free x
    assert_no_keys
}

@test "76: a password that is set, or a user that is switched off, meanwhile" {
    local change
    for change in "resetpass >secret" off; do
        rm -f history let-go
        allowed -l "$(ms 900)"
        # shellcheck disable=SC2086
        redis ACL SETUSER default $change
        redis CLIENT KILL USER default
        assert_lost
        # This test cannot ask the server for the lease's end any more.
        (($(redis EXISTS x) == 1)) || fail "$change: stopped after the lease's end"
        redis DEL x
    done
}

@test "a lock that may not be given back stays for the rest of its lease, and the command's status too" {
    allowed -l "$(ms 1500)"
    allow run +evalsha
    : >let-go
    reaps 5 "$holder"
    stderr=$(grep -v "cannot renew x .*; trying again" err)
    assert_message
    assert_stderr_has evalsha
    (($(redis PTTL x) <= 1500 * SLOW))
    wait_until 5 assert_free x
    assert_no_keys
}

@test "77: who waits may not take it, or listen, any more, or is switched off" {
    local kind without
    for kind in run fair read write; do
        for without in +incr +subscribe off; do
            allow "$kind"
            occupy "$kind"
            log=waiter start "${how[$kind]}" -q -n x -- touch ran
            wait_until 5 listening
            allow "$kind" "$without"
            [[ $without != off ]] || redis ACL SETUSER default off
            [[ $without != +incr ]] || redis DEL x
            redis CLIENT KILL USER default
            reap "$pid" 10
            stderr=$(cat waiter.err)
            assert_refused "$kind without $without"
            redis FLUSHALL
        done
    done
}
