#!/usr/bin/env bats
# moved.bats: an address, or a name, leads to another master since: it is followed, by who holds and by who
# waits, though the old one goes on answering over the old connections. Which answers of a server send rlock
# elsewhere: unit/redis.
#
# The address that moves is a symbolic link to a server's socket: a new connection goes to where it leads
# by then, one that is there already stays where it is.

load ../../lib/rlock
load ../../lib/protected
load ../../lib/replicas

setup_file() { build_section; }

setup() {
    rm -f "$BATS_FILE_TMPDIR"/{main,one}/port
    port_server main
    replica_server one main
    rlock_setup
    wait_until 5 eval '[[ $(redis_on one DBSIZE) == 0 ]]' # it may still have the lock of the test before
    lead_to main
    RLOCK_SERVER=unix://$PWD/vip
}

teardown() {
    rlock_teardown
    server_stop main
}

lead_to() { # SERVER
    ln -sfn "$BATS_FILE_TMPDIR/$1/sock" vip.new
    mv -T vip.new vip
}

# take_over: one is the master and has the address; main is its replica.
take_over() {
    redis_on one REPLICAOF NO ONE
    lead_to one
    redis REPLICAOF 127.0.0.1 "$(port_of one)"
    wait_until 5 has_role main slave
}

@test "while it holds: renewed and given back on the new master" {
    local end
    protected -l "$(ms 3000)"
    end=$(expiry x)
    wait_until 3 renewed_on main "$end" # over the connection that renewals have
    wait_until 5 stands_on one
    take_over
    end=$(expiry x one)
    wait_until 3 renewed_on one "$end"
    alive_for 500
    ends_well
    refute_regex "$(cat err)" 'lost|stopping' # a renewal that failed once may be told
    assert_nothing_left one
}

@test "the new master does not have it: 76, soon" {
    redis_on one REPLICAOF NO ONE
    protected -l "$(ms 3000)"
    lead_to one
    redis REPLICAOF 127.0.0.1 "$(port_of one)"
    assert_lost_within 2000
}

@test "given back on the new master, also without a renewal in between; a handle is renewed, looked at and given back there" {
    local handle
    handle=$(rlock acquire run -l 30s -n y)
    protected -l "$(ms 30000)"
    wait_until 5 stands_on one
    take_over
    ends_well
    refute_regex "$(cat err)" 'lost|confirmed'
    rlock renew "$handle"
    rlock check "$handle"
    rlock release "$handle"
    assert_nothing_left one
}

@test "while it waits: it listens on the new master, and is in when the lock is free there" {
    foreign_hold x 60000
    wait_until 5 stands_on one
    start run -q -n x -- true
    wait_until 10 waiters x 1
    take_over
    wait_until 8 waiters x 1 one
    redis REPLICAOF 127.0.0.1 1 # nothing comes by way of the old one
    redis_on one DEL x
    redis_on one PUBLISH 'redisson_lock__channel:{x}' 0
    reap "$pid" 2
    assert_equal "$status: $(cat err)" "0: "
    assert_nothing_left one
}

# One port of two addresses. The holder's connections stay: READONLY makes it look the name up again.
@test "a name: followed by who holds" {
    local port end
    may_name || skip "needs the right to mount"
    server_stop one main
    port=$(free_ports 1)
    server_start main --bind 127.0.0.1 --port "$port" --repl-diskless-sync-delay 0
    server_start one --bind 127.0.0.2 --port "$port" --repl-diskless-sync-delay 0 --replicaof 127.0.0.1 "$port"
    wait_until 10 streams_to main 1
    echo "127.0.0.1 vip.test" >hosts
    named env --default-signal=INT,QUIT "$RLOCK" run -s "redis://vip.test:$port" -n x -l "$(ms 3000)" -- \
        "$SECTION" --log history --until let-go --exit 5 >out 2>err </dev/null 3>&- 4>&- &
    holder=$!
    wait_until 10 test -s history
    wait_until 5 stands_on one
    redis_on one REPLICAOF NO ONE
    echo "127.0.0.2 vip.test" >hosts
    redis REPLICAOF 127.0.0.2 "$port"
    end=$(expiry x one)
    wait_until 3 renewed_on one "$end"
    ends_well
    refute_regex "$(cat err)" 'lost|stopping'
    assert_nothing_left one
}

# A script that writes nothing runs on a replica, which may be behind its master.
@test "a latch's waiter is led to a replica that does not have the latch: it does not open, and is heard on the master" {
    rlock latch set -q -n x --count 1
    redis_on one REPLICAOF 127.0.0.1 1 # it gets nothing more
    redis_on one CONFIG SET replica-read-only no
    redis_on one DEL x
    redis_on one CONFIG SET replica-read-only yes
    start latch wait -n x -- touch opened
    wait_until 5 eval '[[ $(redis PUBSUB NUMSUB "redisson_countdownlatch__channel__{x}" | tail -n 1) == 1 ]]'
    lead_to one
    redis CLIENT KILL TYPE normal
    redis CLIENT KILL TYPE pubsub
    wait_until 10 eval '[[ -e opened || $(redis_on one INFO errorstats) == *READONLY* ]]'
    assert_file_not_exist opened
    lead_to main
    rlock latch down -q -n x
    reap "$pid"
    assert_equal "$status" 0
    assert_file_exist opened
}
