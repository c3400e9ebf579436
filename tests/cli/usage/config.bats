#!/usr/bin/env bats
# config.bats: the config files, and what goes before what.

load ../../lib/rlock

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

# named_by FROM ARG...: what shows where the server's setting came from does.
named_by() {
    local from=$1
    shift
    try run -v "$@" -n mine -- true
    assert_success
    assert_stderr_has "from $from"
    try run --log json "$@" -n mine -- true
    assert_stderr_has "\"server_from\":\"$from\""
    try doctor "$@"
    assert_output --regexp "ok +setting +the server is named by $from"
    try doctor --json "$@"
    assert_output --regexp "\"check\":\"setting\".*\"level\":\"ok\",\"found\":\"the server is named by $from\""
}

@test "-v, the log, status and doctor say who has named the server" {
    local url=$RLOCK_SERVER
    named_by RLOCK_SERVER
    try status
    assert_stderr_has "$url, from RLOCK_SERVER"
    try status -s "$url"
    assert_equal "$stderr" ''
    named_by --server -s "$url"
    RLOCK_SERVER=unix://$PWD/none try doctor
    assert_failure 69
    assert_stderr_has 'named by RLOCK_SERVER'
    unset RLOCK_SERVER
    printf '\nserver = %s\n' "$url" >"$RLOCK_CONFIG"
    named_by "$RLOCK_CONFIG:2"
    try status
    assert_stderr_has "$url, from $RLOCK_CONFIG:2"
    try status --json
    assert_equal "$stderr" ''
    printf 'server = %s\n' "$url" >etc/rlock.conf
    RLOCK_CONFIG='' rlock_with_etc run -v -n mine -- true
    assert_stderr_has 'from /etc/rlock.conf:1'
    : >"$RLOCK_CONFIG"
    try acquire run -n mine -s "$url"
    try release -v "$output"
    assert_stderr_has "using $url, from the handle"
}

@test "a relative path in a file is another in each directory: 78; in a variable: 64; an option's is the caller's" {
    local line
    for line in 'server = local:here' 'server = local:./here' 'server = redis://h local:here' 'password-file = here' \
        'tls-ca = here' 'tls-cert = here' 'tls-key = ./here'; do
        echo "$line" >"$RLOCK_CONFIG"
        try run -s unix:///none -n x -- touch ran
        assert_equal "$status: $line" "78: $line"
        assert_message
        assert_stderr_has "$RLOCK_CONFIG:1: " relative 'whole path'
    done
    : >"$RLOCK_CONFIG"
    for line in RLOCK_SERVER=local:here RLOCK_SERVER='redis://h local:../here' RLOCK_PASSWORD_FILE=here; do
        run --separate-stderr env "$line" "$RLOCK" acquire run -n x
        assert_equal "$status: $line" "64: $line"
        assert_message
        assert_stderr_has "${line%%=*}" relative 'whole path'
    done
    assert_file_not_exist here
    assert_file_not_exist ran
    for line in "local:$PWD/here" "local:%2f${PWD#/}/here"; do
        echo "server = $line" >"$RLOCK_CONFIG"
        run --separate-stderr env -u RLOCK_SERVER timeout 60 "$RLOCK" run -n x -- true
        assert_equal "$status: $line: $stderr" "0: $line: "
    done
    kill "$(cat here/redis.pid)"
    wait_until 5 test ! -e here/redis.pid
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

# refused_at_once CONFIG TEXT: 78 with that text, within a second.
refused_at_once() {
    took 0 1000 env RLOCK_CONFIG="$1" timeout -s KILL 10 "$RLOCK" run -x -n x -- true
    assert_failure 78
    assert_message
    assert_stderr_has "$1" "$2"
}

@test "78 at once: no file at all, no end of line, no plain text" {
    mkfifo pipe
    mkdir dir
    truncate -s 1T endless
    printf '\xef\xbb\xbflease = 10s\n' >mark
    printf '\xff\xfel\0e\0a\0s\0e\0' >utf16
    printf '# a comment\nlease = 1\0000s\n' >nul
    refused_at_once "$PWD/pipe" pipe
    refused_at_once "$PWD/dir" directory
    refused_at_once "$PWD/endless" 'endless:1: the line is too long'
    refused_at_once /dev/zero 'too long'
    refused_at_once "$PWD/mark" 'mark:1: the file begins with a byte order mark'
    refused_at_once "$PWD/utf16" 'utf16:1: the file begins with a byte order mark'
    refused_at_once "$PWD/nul" 'nul:2: the line has a NUL byte'
    RLOCK_CONFIG=/dev/null try run -x -n x -- true
    assert_failure 75
}

@test "lines that end as on Windows, and a last one that does not end" {
    printf 'no-wait = yes\r\nconflict-exit-code = 41' >"$RLOCK_CONFIG"
    try run -n x -- true
    assert_failure 41
}

# guarded: a server with the password `pass word`, for the tests below.
guarded() {
    server_start guarded --requirepass 'pass word'
    unset RLOCK_CONFIG
    RLOCK_SERVER=$(server_url guarded)
    printf 'pass word\nmore\n' >right
    printf 'wrong\n' >wrong
}

@test "password-file: command line, then environment, then the user's file, then the machine's" {
    guarded
    echo "password-file = $PWD/right" >etc/rlock.conf
    rlock_with_etc run -n x -- true
    assert_success
    echo "password-file = $PWD/wrong" >etc/rlock.conf
    rlock_with_etc run -n x -- true
    assert_failure 77
    echo "password-file = $PWD/right" >"$user"
    rlock_with_etc run -n x -- true
    assert_success
    RLOCK_PASSWORD_FILE=$PWD/wrong rlock_with_etc run -n x -- true
    assert_failure 77
    RLOCK_PASSWORD_FILE=$PWD/none RLOCK_PASSWORD='pass word' rlock_with_etc run -n x -- true
    assert_success
    RLOCK_PASSWORD=no RLOCK_PASSWORD_FILE=$PWD/none rlock_with_etc run --password-file right -n x -- true
    assert_success
    RLOCK_PASSWORD='pass word' rlock_with_etc run --password-file wrong -n x -- true
    assert_failure 77
    refute_regex "$stderr" 'wrong|pass word'
}

@test "password-file: not read for a server that takes none" {
    echo 'password-file = /nowhere/at/all' >"$RLOCK_CONFIG"
    dir=$(mktemp -d /tmp/rlock-test.XXXXXX)
    try run -s "local:$dir" -n x -- true
    kill "$(cat "$dir/redis.pid")"
    wait_until 5 test ! -e "$dir/redis.pid"
    rm -rf "$dir"
    assert_success
    try run -s "local:$dir" -s unix:///nowhere -s local:/tmp/none -n x -- true
    assert_failure 78
}

@test "password-file: as on Windows, or from a pipe; its mistakes: 78, with the place that names it" {
    guarded
    printf 'pass word\r\n' >right
    try run --password-file right -n x -- true
    assert_success
    run --separate-stderr bash -c '"$0" run --password-file <(sleep 0.1; echo "pass word") -n x -- true' "$RLOCK"
    assert_success
    printf '# the password\npassword-file = %s\n' "$PWD/none" >"$user"
    try run -n x -- true
    assert_failure 78
    assert_message
    assert_stderr_has "$PWD/none" "$user:2" 'No such file'
    truncate -s 1T endless
    printf '\xef\xbb\xbfpass word\n' >mark
    : >empty
    for file in endless mark empty "$PWD" /dev/zero; do
        took 0 1000 "$RLOCK" run --password-file "$file" -n x -- true
        assert_failure 78
        assert_message
        assert_stderr_has "$file: cannot read the password that --password-file names: "
    done
}

@test "a value in quotes: without them; but a note is any text" {
    local line
    for line in 'server = "redis://h"' "lease = '30s'"; do
        echo "$line" >"$RLOCK_CONFIG"
        try run -n x -- touch ran
        assert_failure 78
        assert_message
        assert_stderr_has "$RLOCK_CONFIG:1: '${line%% *}' has a value in quotes: write it without them"
        assert_file_not_exist ran
    done
    echo 'note = "until Friday"' >"$RLOCK_CONFIG"
    try run -n x -- true
    assert_success
}
