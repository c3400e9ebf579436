#!/usr/bin/env bats
# fsync.bats: --fsync: a hold, and each renewal, counts once the server has it on disk.

load ../../lib/rlock
load ../../lib/replicas

setup_file() {
    gcc -O2 -shared -fPIC -o "$BATS_FILE_TMPDIR/disk.so" "$TOOLS/disk.c"
    rlock_setup_file
}

# A server whose machine can lose its power, on this file's disk.
disk_server() { # [OPTION...]
    launcher=(env LD_PRELOAD="$BATS_FILE_TMPDIR/disk.so" DISK_STUCK="$BATS_FILE_TMPDIR/stuck")
    server_start disk --appendonly yes "$@"
    launcher=()
    RLOCK_SERVER=$(server_url disk)
}

# The same with a new disk.
new_disk() { # [OPTION...]
    needs_waitaof
    rm -rf "$BATS_FILE_TMPDIR/disk" "$BATS_FILE_TMPDIR/stuck"
    disk_server "$@"
}

# The server ends at once, and its files have what had been flushed by then.
lose_power() {
    local file size
    server_stop disk
    for file in "$BATS_FILE_TMPDIR"/disk/appendonlydir/*.aof; do
        size=$(cat "$file.synced" 2>/dev/null) || size=0
        truncate -s "$size" "$file"
    done
    rm -f "$BATS_FILE_TMPDIR/stuck"
}

# What the server can do: nothing (before Redis 7.2), lie (Redis 7.4, Valkey), or tell what is on disk.
waitaof() {
    redis EVAL "local valkey, version = redis.VALKEY_VERSION_NUM, redis.REDIS_VERSION_NUM or 0
        return (valkey or version >= 0x070400 and version < 0x080000) and 'early' or version < 0x070200 and 'none' or 'true'" 0
}

needs_waitaof() {
    [[ $(waitaof) == true ]] || skip "not for a server that cannot tell what is on disk"
}

@test "a server that cannot tell what is on disk: refused before anything is taken, with what to do" {
    local why
    case $(waitaof) in
    none) why='needs Redis 7.2 or later' ;;
    early) why='appendfsync always' ;;
    true) skip "not for a server that can tell what is on disk" ;;
    esac
    redis CONFIG RESETSTAT
    ends_saying 69 x "$RLOCK_SERVER" WAITAOF "$why" -- run --fsync -n x -- touch ran
    assert_equal "$(calls hset) $(calls incr)" '0 0'
    assert_no_keys
}

@test "without an append-only file, or with appendfsync no: refused, with the setting, and nothing is left" {
    needs_waitaof
    ends_saying 69 x 'appendonly yes' -- run --fsync -n x -- touch ran
    assert_no_keys
    new_disk --appendfsync no
    ends_saying 69 appendfsync -- run -q --fsync -w 3 -n x -- touch ran
}

@test "a lease that is shorter than its renewals may take is refused before a server is asked" {
    local command
    for command in 'run -c true' 'fair -c true' 'read -c true' 'write -c true' 'sem --permits 1 -c true' 'acquire run'; do
        # shellcheck disable=SC2086
        ends_saying 64 6s -- $command -s unix:///nowhere -l 5999ms --fsync -n x
    done
}

@test "each hold, each renewal and each step of a latch is asked for, and nothing is without --fsync" {
    new_disk
    rlock run -n x -- true
    assert_equal "$(calls waitaof disk)" 0
    rlock run --fsync -l 6 -n x -- sleep 2.5
    (($(calls waitaof disk) >= 2))
    assert_equal "$(calls wait disk)" 0
    redis_on disk CONFIG RESETSTAT
    rlock latch set --fsync -n x --count 1
    rlock latch down --fsync -n x
    assert_equal "$(calls waitaof disk)" 2
}

@test "the command starts when the hold is on disk, not before" {
    new_disk
    : >"$BATS_FILE_TMPDIR/stuck"
    start run -q --fsync -n x -- "$SECTION" --log history
    wait_until 10 eval '[[ $(redis_on disk INFO clients) == *blocked_clients:1* ]]'
    assert_file_not_exist history
    rm "$BATS_FILE_TMPDIR/stuck"
    reaps 0 "$pid"
    assert_file_exist history
}

# That a second one comes in without --fsync shows that the test can.
@test "power is lost: with --fsync the server that is back knows the hold, and its token" {
    local round
    new_disk
    redis_on disk SET something written
    wait_until 10 eval 'grep -q . "$BATS_FILE_TMPDIR"/disk/appendonlydir/*.incr.aof.synced'
    : >"$BATS_FILE_TMPDIR/stuck"
    hold y
    lose_power
    disk_server
    try run -x -n y -- echo second
    assert_output second
    let_go y
    for round in 1 2 3; do
        hold x --fsync
        lose_power
        disk_server
        try run -x -q --fsync -n x -- echo second
        assert_failure 75
        let_go x
        reaps 0 "$holder"
        try run --fsync -n x -- printenv RLOCK_TOKEN
        assert_output $((2 * round))
    done
}

@test "with --replicas the replicas have it on disk as well" {
    needs_waitaof
    port_server first --appendonly yes
    replica_server second first
    RLOCK_SERVER=$(port_url first)
    ends_saying 69 'on disk' -- run -q --fsync --replicas 1 -w 3 -n x -- touch ran # it keeps nothing on its disk
    redis_on second CONFIG SET appendonly yes
    wait_until 10 streams_to first 1
    rlock run -q --fsync --replicas 1 -w 10 -n x -- true
}
