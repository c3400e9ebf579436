#!/usr/bin/env bats
# config.bats: the config files, and what goes before what.

load ../lib/rlock

# Every lock is busy here, so what -E says is seen in the status.
setup() {
    rlock_setup
    foreign_hold x 60000
    user=$XDG_CONFIG_HOME/rlock/rlock.conf
    mkdir -p "$XDG_CONFIG_HOME/rlock" etc
    cp /etc/passwd /etc/group /etc/ld.so.cache etc/
}

# An rlock to which etc/ is /etc.
rlock_with_etc() {
    unshare -m true || skip "needs the right to make a mount namespace"
    run --separate-stderr unshare -m sh -c \
        'mount --make-rprivate / && mount --bind etc /etc && exec timeout -s KILL 60 "$@"' sh "$RLOCK" "$@"
}

@test "RLOCK_CONFIG: keys are the long options' names; comments and blanks don't matter" {
    printf '%s\n' '# a comment' '' '  wait   =  0  ' $'\tconflict-exit-code=41' 'lease = 10s' >"$RLOCK_CONFIG"
    try run -n x -- true
    assert_failure 41
}

@test "options that take no value are on or off in a config file" {
    printf 'no-wait = yes\nconflict-exit-code = 41\n' >"$RLOCK_CONFIG"
    try run -n x -- true
    assert_failure 41
    printf 'quiet = true\nno-wait = true\n' >"$RLOCK_CONFIG"
    try run -n x -- true
    assert_failure 75
}

@test "the user's file is found under XDG_CONFIG_HOME, else in ~/.config" {
    unset RLOCK_CONFIG
    echo 'conflict-exit-code = 42' >"$user"
    try run -x -n x -- true
    assert_failure 42
    unset XDG_CONFIG_HOME
    try run -x -n x -- true
    assert_failure 42
    export XDG_CONFIG_HOME=$PWD/elsewhere
    try run -x -n x -- true
    assert_failure 75
}

@test "/etc/rlock.conf: under the user's file, key by key" {
    unset RLOCK_CONFIG
    printf 'conflict-exit-code = 43\nno-wait = yes\n' >etc/rlock.conf
    rlock_with_etc run -n x -- true
    assert_failure 43
    echo 'conflict-exit-code = 42' >"$user"
    rlock_with_etc run -n x -- true
    assert_failure 42
}

@test "RLOCK_CONFIG names one file instead of both" {
    echo 'conflict-exit-code = 43' >etc/rlock.conf
    echo 'conflict-exit-code = 42' >"$user"
    echo 'no-wait = yes' >"$RLOCK_CONFIG"
    rlock_with_etc run -n x -- true
    assert_failure 75
}

@test "RLOCK_CONFIG names a file that is not there: 78" {
    RLOCK_CONFIG=$PWD/none try run -n x -- true
    assert_failure 78
    assert_message
    assert_stderr_has "$PWD/none"
}

@test "the command line goes before a config file" {
    echo 'conflict-exit-code = 42' >"$RLOCK_CONFIG"
    try run -x -E 44 -n x -- true
    assert_failure 44
}

@test "the server: command line, then environment, then the files" {
    echo "server = unix://$PWD/from-file" >"$RLOCK_CONFIG"
    RLOCK_SERVER=unix://$PWD/from-env try run -x -s "unix://$PWD/from-option" -n x -- true
    assert_failure 69
    assert_stderr_has from-option
    RLOCK_SERVER=unix://$PWD/from-env try run -x -n x -- true
    assert_stderr_has from-env
    unset RLOCK_SERVER
    try run -x -n x -- true
    assert_failure 69
    assert_stderr_has from-file
}

@test "78: FILE:LINE: why" {
    local line
    for line in 'no-such-key = 1' 'wait' '= 3s' 'lease = soon' 'lease = 1ms' 'on-lost = maybe' \
        'conflict-exit-code = 999'; do
        printf '\n# two lines before\n%s\n' "$line" >"$RLOCK_CONFIG"
        try run -x -n x -- true
        assert_equal "$status: $line" "78: $line"
        assert_message
        assert_stderr_has "$RLOCK_CONFIG:3: "
    done
}

@test "78: a server in a config file that can't be read" {
    unset RLOCK_SERVER
    printf 'wait = 0\nserver = memcached://h\n' >"$RLOCK_CONFIG"
    try run -n x -- true
    assert_failure 78
    assert_message
    assert_stderr_has "$RLOCK_CONFIG:2: "
}

@test "78 also when the option on the command line would have gone before" {
    echo 'lease = soon' >"$RLOCK_CONFIG"
    try run -x -l 30s -n x -- true
    assert_failure 78
}

@test "a password in a config file is never shown" {
    echo 'server = redis://user:sesame@127.0.0.1:1/0' >"$RLOCK_CONFIG"
    unset RLOCK_SERVER
    try run -x -v -n x -- true
    assert_failure 69
    refute_regex "$stderr" sesame
    assert_stderr_has 127.0.0.1:1
    echo 'server = redis://user:sesame@:port/' >"$RLOCK_CONFIG"
    try run -x -n x -- true
    assert_failure 78
    refute_regex "$stderr" sesame
}
