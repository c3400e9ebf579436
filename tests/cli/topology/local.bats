#!/usr/bin/env bats
# local.bats: the server that rlock starts for one machine: once, private, safe.

load ../../lib/rlock

setup() {
    rlock_setup
    # Short: a Unix socket's path has 107 bytes at most.
    dir=$(mktemp -d /tmp/rlock-test.XXXXXX)
    rmdir "$dir"
    export RLOCK_SERVER=local:$dir
}

# Whoever still holds a lock would start the server again.
teardown() {
    local failed=0
    rlock_teardown || failed=1
    local_server_kill
    rm -rf "$dir"
    return $failed
}

local_redis() {
    redis-cli -s "$dir/redis.sock" "$@"
}

local_server_kill() {
    local pid
    pid=$(cat "$dir/redis.pid" 2>/dev/null) || return 0
    kill -KILL "$pid" 2>/dev/null || true
    wait_until 5 ended "$pid"
}

# The processes that live in the directory: its servers.
servers_of_dir() {
    local link
    for link in /proc/[0-9]*/cwd; do
        [[ $(readlink "$link") != "$dir" ]] || echo "${link//[!0-9]/}"
    done
}

@test "first use starts it; the next ones share it" {
    local first
    try run -n x -- true
    assert_success
    assert_equal "$stderr" ""
    first=$(cat "$dir/redis.pid")
    kill -0 "$first"
    try run -n x -- sh -c 'echo "$RLOCK_TOKEN"'
    assert_output 2
    assert_equal "$(cat "$dir/redis.pid")" "$first"
}

@test "a directory with blanks in its name: %XX, also for the command" {
    local url=local:$dir%20%25%20b
    dir+=' % b'
    try run -s "$url" -n x -- sh -c 'echo "$RLOCK_SERVER"; rlock run -x -n x -- true'
    assert_success
    assert_output "$url"
    [ -S "$dir/redis.sock" ]
}

@test "ten at once start one server, and exclude each other" {
    local n pids=()
    for n in {1..10}; do
        log=$n start run -q -n x -- "$SECTION" --log history --ms 5
        pids+=("$pid")
    done
    for pid in "${pids[@]}"; do
        reap "$pid"
        assert_equal "$status" 0
    done
    check_history --min-sections 10 history
    assert_equal "$(grep -ch 'Server initialized' "$dir"/redis.log)" 1
    assert_equal "$(servers_of_dir)" "$(cat "$dir/redis.pid")"
}

sockets_of_server() { # N
    (($(find "/proc/$(cat "$dir/redis.pid")/fd" -lname 'socket:*' | wc -l) == $1))
}

@test "directory 0700, no TCP port, noeviction" {
    rlock run -n x -- true
    assert_equal "$(stat -c '%a %u' "$dir")" "700 $(id -u)"
    assert_equal "$(local_redis CONFIG GET port | tail -n 1)" 0
    assert_equal "$(local_redis CONFIG GET maxmemory-policy | tail -n 1)" noeviction
    wait_until 5 sockets_of_server 1 # it has yet to find that rlock has gone
}

@test "whatever the umask: directory 0700, what is in it is ours, and the command has the caller's umask" {
    assert_equal "$(umask 0777; rlock run -n x -- sh -c umask)" 0777
    assert_equal "$(stat -c %a "$dir")" 700
    assert_equal "$(stat -c %a "$dir/start.lock")" 600
}

@test "it holds none of the caller's descriptors, nor its directory or terminal" {
    took 0 10000 bash -c 'rlock run -n x -- true | cat' 9>held
    assert_success
    run find "/proc/$(cat "$dir/redis.pid")/fd" -lname "$PWD/*"
    assert_output ""
    assert_equal "$(servers_of_dir)" "$(cat "$dir/redis.pid")"
    [[ $(session "$(cat "$dir/redis.pid")") != "$(session $$)" ]]
}

@test "nor where close_range(2) is refused" {
    command -v strace >/dev/null || skip "needs strace"
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    exec 9>held
    # Not followed into the server, which a tracer that ends would take along.
    strace -f -D -b execve -qq -o trace -e trace=close_range -e inject=close_range:error=ENOSYS \
        "$RLOCK" run -n x -- true 3>&- 4>&-
    exec 9>&-
    wait_until 5 grep -q ENOSYS trace
    wait_until 5 test -S "$dir/redis.sock"
    run find "/proc/$(cat "$dir/redis.pid")/fd" -lname "$PWD/*"
    assert_output ""
}

# The soft limits are the hard ones, but for two that are usually less.
assert_no_soft_limits() { # PID
    assert_equal "$(awk 'NR > 1 && !/core file|stack/ && substr($0, 27, 21) != substr($0, 48, 21)' "/proc/$1/limits")" ''
}

@test "it has none of the caller's limits, nor its priority" {
    local nice score server
    # Back to 0, with the right to.
    nice=$(nice -n 9 sh -c 'renice -n 0 $$ >/dev/null 2>&1; ps -o ni= $$')
    score=$(sh -c 'echo 0 >/proc/$$/oom_score_adj; cat /proc/$$/oom_score_adj' 2>/dev/null)
    (
        ulimit -Sf 1000 -Sn 30 -St 60
        is_sanitized || ulimit -Sv 4000000
        echo 700 >/proc/self/oom_score_adj || true
        exec nice -n 9 taskset 1 "$RLOCK" run -n x -- true
    )
    server=$(cat "$dir/redis.pid")
    assert_no_soft_limits "$server"
    assert_equal "$(ps -o ni= "$server")" "$nice"
    assert_equal "$(cat "/proc/$server/oom_score_adj")" "$score"
    assert_equal "$(grep Cpus_allowed: "/proc/$server/status")" "$(grep Cpus_allowed: /proc/self/status)"
    chrt -i 0 chrt -o 0 true 2>/dev/null || return 0 # no right to go back
    local_server_kill
    chrt -i 0 "$RLOCK" run -n x -- true
    [[ $(ps -o cls= "$(cat "$dir/redis.pid")") == *TS ]]
}

@test "a soft limit of 8 open files does not keep it from starting, or from serving many" {
    (ulimit -Sn 8; exec "$RLOCK" status -q x 3>&- 4>&-)
    assert_equal "$(local_redis CONFIG GET maxclients | tail -n 1)" 10000
}

@test "locks survive the death of that server" {
    start run -n x -l 60s -- sh -c 'echo >ready; exec sleep 60'
    wait_until 10 test -s ready
    wait_until 3 appended
    local_server_kill
    try run -x -n x -- true
    assert_failure 75
    kill -TERM "$pid"
    reap "$pid"
    assert_equal "$status" 143
}

# new_server OLD: another one than that listens.
new_server() {
    [[ $(cat "$dir/redis.pid") != "$1" ]] && local_redis PING
}

# long_hold ARG...: holds x with a short lease until let-go, at least.
long_hold() {
    start run -v -n x -l "$(ms 900)" "$@" -- sh -c 'echo >held; until [ -e let-go ]; do sleep 0.02; done'
    wait_until 10 test -s held
}

@test "a holder that renews starts the dead server again, and nobody else enters" {
    local old
    long_hold
    old=$(cat "$dir/redis.pid")
    local_server_kill
    wait_until 10 new_server "$old"
    # Nobody's child, or it might be taken for one of the command's.
    [[ $(sed -n 's/^PPid:\t//p' "/proc/$(cat "$dir/redis.pid")/status") != "$pid" ]]
    wait_until 10 bash -c 'tail -n 1 err | grep -q "renewed x"'
    try run -x -n x -- true
    assert_failure 75
    : >let-go
    reap "$pid"
    assert_equal "$status" 0
    try run -x -n x -- sh -c 'echo "$RLOCK_TOKEN"'
    assert_output 2
    assert_equal "$(servers_of_dir)" "$(cat "$dir/redis.pid")"
}

@test "a keeper in the background starts it again, too" {
    local handle old
    sleep 60 3>&- 4>&- &
    handle=$(rlock acquire run -n x -l "$(ms 1500)" --while $!)
    old=$(cat "$dir/redis.pid")
    wait_until 3 appended
    local_server_kill
    wait_until 10 new_server "$old"
    rlock check "$handle"
    kill $!
    wait_until 5 rlock run -x -n x -- true
}

@test "a waiter starts it again, too, and gets the lock" {
    local old holder
    long_hold --no-renew -l 60s
    holder=$pid
    log=waiter start run -n x -- true
    wait_until 10 bash -c "redis-cli -s '$dir/redis.sock' PUBSUB CHANNELS | grep -q ."
    old=$(cat "$dir/redis.pid")
    local_server_kill
    wait_until 10 new_server "$old"
    : >let-go
    reap "$holder"
    assert_equal "$status" 0
    reap "$pid"
    assert_equal "$status" 0
}

@test "a server that died before the end is there to take the lock back" {
    start run -n x -l 60s --io-timeout "$(ms 2000)" -- sh -c 'echo >held; until [ -e let-go ]; do sleep 0.02; done'
    wait_until 10 test -s held
    wait_until 3 appended
    local_server_kill
    : >let-go
    reap "$pid"
    assert_equal "$status: $(cat err)" "0: "
    assert_equal "$(local_redis EXISTS x)" 0
}

@test "a command that ends after the server has died is counted" {
    rlock latch set -n gate --count 1
    start latch down -n gate -- sh -c 'echo >held; until [ -e let-go ]; do sleep 0.02; done'
    wait_until 10 test -s held
    local_server_kill
    : >let-go
    reap "$pid"
    assert_equal "$status: $(cat err)" "0: "
    try latch wait -x -n gate -- true
    assert_success
}

@test "rlock doctor tells of it, and how to end it" {
    try doctor
    assert_line --index 2 --regexp "^note +local +a private redis-server of user $(id -u) alone, pid $(cat "$dir/redis.pid")(, in [^ ]+)?, on $dir/redis.sock; to end it: "
    bash -c "$(sed -n 's/^note *local .*; to end it: \([^;]*\).*/\1/p' <<<"$output")"
    wait_until 5 test ! -e "$dir/redis.sock"
    assert_equal "$(servers_of_dir)" ""
    try doctor -s "$(server_url main)"
    refute_output --partial 'private redis-server'
}

@test "never a second server: not while one lives without its socket" {
    rlock run -n x -- true
    refute flock -n "$dir" true
    rm "$dir/redis.sock"
    took 0 $((300 * SLOW + 2700)) "$RLOCK" run --connect-timeout "$(ms 300)" -n x -- touch ran
    assert_failure 69
    assert_message
    assert_stderr_has "$dir" redis.log
    assert_equal "$(servers_of_dir)" "$(cat "$dir/redis.pid")"
    assert_file_not_exist ran
}

appended() {
    grep -qs rlock_info "$dir"/appendonlydir/*.incr.aof
}

# A place, made so by a command, that is no directory of ours alone.
@test "77: the directory is open to others, another user's, a symbolic link, a file: not used, and left as it is" {
    local make mode slashes
    mkdir -m 700 real
    for make in 'mkdir -m 755' 'mkdir -m 770' 'mkdir -m 701' 'mkdir -m 1777' 'install -d -m 700 -o 65534' "ln -s $PWD/real" touch; do
        $make "$dir"
        mode=$(stat -c '%a %u' "$dir")
        for slashes in '' / //; do
            try run -s "local:$dir$slashes" -n x -- touch ran
            assert_equal "$make: $status" "$make: 77"
            assert_message
            assert_stderr_has "$dir"
        done
        assert_equal "$make: $(stat -c '%a %u' "$dir")$(find "$dir" real -name 'redis*')" "$make: $mode"
        rm -r "$dir"
    done
    assert_file_not_exist ran
}

# refused_below PARENT: local: in it is not used, and nothing made there; the message names the parent.
refused_below() {
    try run -s "local:$1/d" -n x -- touch ran
    assert_equal "$status: $(stat -c '%a %u' "$1"): $stderr" "77: $(stat -c '%a %u' "$1"): $stderr"
    assert_message
    assert_stderr_has "$1/d" "in ${2-$1}"
    assert_file_not_exist ran
    assert_file_not_exist "$1/d"
}

@test "77: the directory is in one where others may rename things, however far up" {
    local mode
    mkdir -m 700 "$dir"
    for mode in 777 770 775 707; do
        mkdir -m "$mode" "$dir/shared"
        refused_below "$dir/shared"
        mkdir -m 700 "$dir/shared/ours"
        refused_below "$dir/shared/ours" "$dir/shared"
        rm -r "$dir/shared"
    done
    mkdir -m 755 "$dir/theirs"
    chown 65534 "$dir/theirs"
    try run -s "local:$dir/theirs/d" -n x -- touch ran
    assert_failure 77
    assert_stderr_has "$dir/theirs belongs to someone else"
    mkdir -m 1777 "$dir/sticky"
    mkdir -m 755 "$dir/sticky/theirs"
    chown 65534 "$dir/sticky/theirs"
    try run -s "local:$dir/sticky/theirs/d" -n x -- touch ran
    assert_failure 77
    assert_stderr_has "theirs in $dir/sticky belongs to someone else"
}

@test "77: a symbolic link on the way is another's, or stands where others may rename it" {
    mkdir -m 700 "$dir" "$dir/ours"
    mkdir -m 1777 "$dir/sticky"
    mkdir -m 777 "$dir/shared"
    ln -s "$dir/ours" "$dir/shared/link"
    ln -s ../shared "$dir/ours/far"
    ln -s "$dir/ours" "$dir/sticky/theirs"
    chown -h 65534 "$dir/sticky/theirs"
    refused_below "$dir/shared/link" "$dir/shared"
    refused_below "$dir/ours/far/../shared/link" "$dir/shared"
    try run -s "local:$dir/sticky/theirs/d" -n x -- touch ran
    assert_failure 77
    assert_stderr_has "theirs in $dir/sticky belongs to someone else"
    ln -s loop "$dir/loop"
    try run -s "local:$dir/loop/d" -n x -- touch ran
    assert_failure 69
    assert_equal "$(ls -A "$dir/ours")" far
}

@test "our own links and a sticky directory on the way are good" {
    local base=$dir
    mkdir -m 700 "$base" "$base/real"
    mkdir -m 1777 "$base/sticky"
    ln -s ../real "$base/sticky/link"
    dir=$base/real/d
    try run -s "local:$base/sticky/link/./d" -n x -- true
    assert_success
    [ -S "$dir/redis.sock" ]
    local_server_kill
    dir=$base
}

@test "64: a socket's path that is too long" {
    long=$(printf 'n%.0s' {1..120})
    try run -s "local:/tmp/$long" -n x -- touch ran
    assert_failure 64
    assert_message
    assert_stderr_has 107
    try run -s "unix:///tmp/$long" -n x -- touch ran
    assert_failure 64
    assert_message
    assert_stderr_has 'path'
    assert_file_not_exist ran
}

@test "69: no redis-server on PATH, with the package's name" {
    mkdir bin
    ln -s /bin/sh /bin/touch bin/
    run --separate-stderr env PATH="$PWD/bin" "$RLOCK" run -n x -- touch ran
    assert_failure 69
    assert_message
    assert_stderr_has redis-server install
    assert_file_not_exist ran
}

@test "valkey-server will do where there is no redis-server" {
    mkdir bin
    ln -s "$(command -v redis-server)" bin/valkey-server
    ln -s /bin/true bin/
    run --separate-stderr env PATH="$PWD/bin" "$RLOCK" run -n x -- true
    assert_success
    assert_equal "$(tr '\0' '\n' <"/proc/$(cat "$dir/redis.pid")/cmdline" | head -n 1 | grep -c valkey)" 1
}

@test "a stale socket and pid file of a server that was killed don't matter" {
    rlock run -n x -- true
    local_server_kill
    [[ -S $dir/redis.sock ]]
    try run -n x -- true
    assert_success
    kill -0 "$(cat "$dir/redis.pid")"
}

# in_tmpfs DIR COMMAND: by sh, where DIR is empty and nobody else's.
in_tmpfs() {
    unshare -m true || skip "needs the right to make a mount namespace"
    run --separate-stderr env -u XDG_CONFIG_HOME RLOCK_SERVER=local: HOME=/nonexistent TMPDIR=/nonexistent \
        XDG_RUNTIME_DIR=/nonexistent unshare -m sh -c "mount --make-rprivate / && mount -t tmpfs tmpfs $1 && cd / && $2" "$RLOCK"
}

@test "the default directory is /run/rlock for root, whatever the environment" {
    in_tmpfs /run '"$0" run -n x -- sh -c "ls /run/rlock"; kill -KILL "$(cat /run/rlock/redis.pid)"'
    assert_line redis.sock
}

@test "69: a directory that cannot be made: name another" {
    in_tmpfs /run 'mount -o remount,ro /run && exec "$0" run -n x -- true'
    assert_failure 69
    assert_message
    assert_stderr_has 'cannot make the directory /run/rlock: ' 'Read-only file system; name another directory: local:DIR'
}

@test "the default directory is /tmp/rlock-UID for others, whatever the environment" {
    ((EUID == 0)) || skip "needs root to be somebody else"
    local other="setpriv --reuid 65534 --regid 65534 --clear-groups"
    unset RLOCK_CONFIG
    open_to_others
    dir=$(mktemp -d /var/tmp/rlock-test.XXXXXX) # not below /tmp
    chmod 755 "$dir"
    cp "$RLOCK" "$dir"
    RLOCK=$dir/rlock
    in_tmpfs /tmp "chmod 1777 /tmp; $other \"\$0\" run -n x -- ls /tmp/rlock-65534; kill -KILL \$(cat /tmp/rlock-65534/redis.pid)"
    rm -r "$dir"
    assert_line redis.sock
}
