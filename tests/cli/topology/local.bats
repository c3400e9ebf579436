#!/usr/bin/env bats
# local.bats: the server that rlock starts for one machine: once, private, safe.

load ../../lib/rlock
load ../../lib/actors

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

@test "first use starts it; the next ones share it, also by an address with %XX for blanks" {
    local first url
    try run -n x -- true
    assert_equal "$status: $stderr" "0: "
    first=$(cat "$dir/redis.pid")
    kill -0 "$first"
    try run -n x -- printenv RLOCK_TOKEN
    assert_output 2
    assert_equal "$(cat "$dir/redis.pid")" "$first"
    local_server_kill
    url=local:$dir%20%25%20b
    dir+=' % b'
    try run -s "$url" -n x -- sh -c 'echo "$RLOCK_SERVER"; rlock run -x -n x -- true'
    assert_success
    assert_output "$url"
    [ -S "$dir/redis.sock" ]
}

@test "ten at once start one server, and exclude each other" {
    local who all=({1..10})
    brief "${all[@]}"
    for who in "${all[@]}"; do
        act "$who" run -q
    done
    gone 0 "${all[@]}"
    check_history --min-sections 10 history
    assert_equal "$(grep -ch 'Server initialized' "$dir"/redis.log)" 1
    assert_equal "$(servers_of_dir)" "$(cat "$dir/redis.pid")"
}

@test "directory 0700 whatever the umask, which the command has as it was; no TCP port, noeviction" {
    assert_equal "$(umask 0777; rlock run -n x -- sh -c umask)" 0777
    assert_equal "$(stat -c '%a %u' "$dir")" "700 $(id -u)"
    assert_equal "$(local_redis CONFIG GET port | tail -n 1)" 0
    assert_equal "$(local_redis CONFIG GET maxmemory-policy | tail -n 1)" noeviction
    # It has yet to find that rlock has gone.
    wait_until 5 eval '(($(find "/proc/$(cat "$dir/redis.pid")/fd" -lname "socket:*" | wc -l) == 1))'
}

@test "it holds none of the caller's descriptors, nor its directory or terminal" {
    took 0 10000 bash -c 'rlock run -n x -- true | cat' 9>held
    assert_success
    run find "/proc/$(cat "$dir/redis.pid")/fd" -lname "$PWD/*"
    assert_output ""
    assert_equal "$(servers_of_dir)" "$(cat "$dir/redis.pid")"
    [[ $(session "$(cat "$dir/redis.pid")") != "$(session $$)" ]]
}

@test "it has none of the caller's limits, which do not keep it from starting, or from serving many; nor its priority" {
    local nice score server
    # Back to 0, with the right to.
    nice=$(nice -n 9 sh -c 'renice -n 0 $$ >/dev/null 2>&1; ps -o ni= $$')
    score=$(sh -c 'echo 0 >/proc/$$/oom_score_adj; cat /proc/$$/oom_score_adj' 2>/dev/null)
    (
        ulimit -Sf 1000 -Sn 8 -St 60
        is_sanitized || ulimit -Sv 4000000
        echo 700 >/proc/self/oom_score_adj || true
        exec nice -n 9 taskset 1 "$RLOCK" status -q x 3>&- 4>&-
    )
    server=$(cat "$dir/redis.pid")
    assert_equal "$(local_redis CONFIG GET maxclients | tail -n 1)" 10000
    # The soft limits are the hard ones, but for two that are usually less.
    assert_equal "$(awk 'NR > 1 && !/core file|stack/ && substr($0, 27, 21) != substr($0, 48, 21)' "/proc/$server/limits")" ''
    assert_equal "$(ps -o ni= "$server")" "$nice"
    assert_equal "$(cat "/proc/$server/oom_score_adj")" "$score"
    assert_equal "$(grep Cpus_allowed: "/proc/$server/status")" "$(grep Cpus_allowed: /proc/self/status)"
    chrt -i 0 chrt -o 0 true 2>/dev/null || return 0 # no right to go back
    local_server_kill
    chrt -i 0 "$RLOCK" run -n x -- true
    [[ $(ps -o cls= "$(cat "$dir/redis.pid")") == *TS ]]
}

appended() {
    grep -qs rlock_info "$dir"/appendonlydir/*.incr.aof
}

@test "locks survive the death of that server; when it has died at the end it is there to take the lock back, or to count" {
    hold x -l 60s --io-timeout "$(ms 2000)"
    rlock latch set -n gate --count 1
    start latch down -n gate -- sh -c 'echo >counts; $SECTION --until count'
    wait_until 10 test -s counts
    wait_until 3 appended
    local_server_kill
    [[ -S $dir/redis.sock ]] # stale, as its pid file is
    try run -x -n x -- true
    assert_failure 75
    local_server_kill
    : >count
    reap "$pid"
    assert_equal "$status: $(local_redis EXISTS gate)" "0: 0"
    local_server_kill
    let_go x
    reap "$holder"
    assert_equal "$status: $(cat hold-x.err)" "0: "
    assert_equal "$(local_redis EXISTS x)" 0
}

# dies_and_returns: somebody starts it again.
dies_and_returns() {
    local old
    old=$(cat "$dir/redis.pid")
    local_server_kill
    wait_until 10 eval '[[ $(cat "$dir/redis.pid") != "$old" ]] && local_redis PING'
}

@test "a holder that renews starts the dead server again, and nobody else enters" {
    hold x -v -l "$(ms 900)"
    dies_and_returns
    # Nobody's child, or it might be taken for one of the command's.
    [[ $(sed -n 's/^PPid:\t//p' "/proc/$(cat "$dir/redis.pid")/status") != "$holder" ]]
    wait_until 10 bash -c 'tail -n 1 hold-x.err | grep -q "renewed x"'
    try run -x -n x -- true
    assert_failure 75
    let_go x
    reaps 0 "$holder"
    try run -x -n x -- printenv RLOCK_TOKEN
    assert_output 2
    assert_equal "$(servers_of_dir)" "$(cat "$dir/redis.pid")"
}

@test "a keeper in the background starts it again, too" {
    local handle
    sleep 60 3>&- 4>&- &
    handle=$(rlock acquire run -n x -l "$(ms 1500)" --while $!)
    wait_until 3 appended
    dies_and_returns
    rlock check "$handle"
    kill $!
    wait_until 5 rlock run -x -n x -- true
}

@test "a waiter starts it again, too, and gets the lock" {
    hold x --no-renew -l 60s
    log=waiter start run -n x -- true
    wait_until 10 bash -c "redis-cli -s '$dir/redis.sock' PUBSUB CHANNELS | grep -q ."
    dies_and_returns
    let_go x
    reaps 0 "$holder"
    reaps 0 "$pid"
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
    refuses 0 $((300 * SLOW + 2700)) 69 "$dir" redis.log -- run --connect-timeout "$(ms 300)" -n x -- touch ran
    assert_equal "$(servers_of_dir)" "$(cat "$dir/redis.pid")"
}

# As NFS does: a server of another host could be using it.
@test "69: its directory cannot be locked, and no server is started" {
    command -v strace >/dev/null || skip "needs strace"
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    run -69 strace -qq -o /dev/null -e inject=flock:error=EBADF "$RLOCK" run -n x -- touch ran
    assert_output --partial "cannot lock the directory $dir: Bad file descriptor"
    refute test -e ran
    assert_equal "$(servers_of_dir)" ""
}

laid_out() { # what is in the directory, and how
    find "$dir" -printf '%P %M %U %l\n' | sort
}

# place|words, with @ for the directory, which is ours|how the place is made there
@test "77: the place is open to others, or no directory of ours; others may rename what leads there: all is left as it is" {
    local place words make before slashes
    while IFS='|' read -r place words make; do
        mkdir -m 700 "$dir" "$dir/ours"
        (cd "$dir" && umask 022 && eval "$make")
        before=$(laid_out)
        for slashes in '' / //; do
            ends_saying 77 "$dir/$place" "${words//@/$dir}" -- run -s "local:$dir/$place$slashes" -n x -- touch ran
        done
        assert_equal "$make: $(laid_out)" "$make: $before"
        rm -r "$dir"
    done <<'END'
d||mkdir -m 755 d
d||mkdir -m 770 d
d||mkdir -m 701 d
d||mkdir -m 1777 d
d||install -d -m 700 -o 65534 d
d||ln -s ours d
d||touch d
shared/d|in @/shared|mkdir -m 777 shared
shared/d|in @/shared|mkdir -m 775 shared
shared/d|in @/shared|mkdir -m 707 shared
shared/ours/d|in @/shared|mkdir -m 770 shared; mkdir -m 700 shared/ours
theirs/d|@/theirs belongs to someone else|mkdir theirs; chown 65534 theirs
sticky/theirs/d|theirs in @/sticky belongs to someone else|mkdir -m 1777 sticky; mkdir sticky/theirs; chown 65534 sticky/theirs
sticky/link/d|link in @/sticky belongs to someone else|mkdir -m 1777 sticky; ln -s ../ours sticky/link; chown -h 65534 sticky/link
shared/link/d|in @/shared|mkdir -m 777 shared; ln -s ../ours shared/link
ours/far/../shared/link/d|in @/shared|mkdir -m 777 shared; ln -s ../ours shared/link; ln -s ../shared ours/far
END
}

@test "a symbolic link of our own on the way is good; one that leads to itself: 69" {
    local base=$dir
    mkdir -m 700 "$base" "$base/ours"
    mkdir -m 1777 "$base/sticky"
    ln -s loop "$base/loop"
    try run -s "local:$base/loop/d" -n x -- touch ran
    assert_failure 69
    ln -s ../ours "$base/sticky/link"
    dir=$base/ours/d
    rlock run -s "local:$base/sticky/link/./d" -n x -- true
    [ -S "$dir/redis.sock" ]
    local_server_kill
    dir=$base
}

@test "64: a socket's path that is too long" {
    ends_saying 64 107 -- run -s "local:/tmp/$(printf 'n%.0s' {1..120})" -n x -- touch ran
}

@test "no redis-server on PATH: 69, with the package's name; valkey-server will do" {
    mkdir bin
    ln -s /bin/{sh,touch,true} bin/
    run --separate-stderr env PATH="$PWD/bin" "$RLOCK" run -n x -- touch ran
    assert_failure 69
    assert_message
    assert_stderr_has redis-server install
    assert_file_not_exist ran
    ln -s "$(command -v redis-server)" bin/valkey-server
    run --separate-stderr env PATH="$PWD/bin" "$RLOCK" run -n x -- true
    assert_success
    assert_equal "$(tr '\0' '\n' <"/proc/$(cat "$dir/redis.pid")/cmdline" | head -n 1 | grep -c valkey)" 1
}

# in_tmpfs DIR COMMAND: by sh, where DIR is empty and nobody else's.
in_tmpfs() {
    unshare -m true || skip "needs the right to make a mount namespace"
    run --separate-stderr env -u XDG_CONFIG_HOME RLOCK_SERVER=local: HOME=/nonexistent TMPDIR=/nonexistent \
        XDG_RUNTIME_DIR=/nonexistent unshare -m sh -c "mount --make-rprivate / && mount -t tmpfs tmpfs $1 && cd / && $2" "$RLOCK"
}

@test "the default directory is /run/rlock for root, whatever the environment; 69 where it cannot be made" {
    in_tmpfs /run '"$0" run -n x -- sh -c "ls /run/rlock"; kill -KILL "$(cat /run/rlock/redis.pid)"'
    assert_line redis.sock
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
