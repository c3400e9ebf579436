#!/usr/bin/env bats
# config.bats: the config files, and what goes before what. How a line is read is in unit/options.

load ../../lib/rlock
load ../../lib/ports

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

# A file for the whole fleet wants quiet cron jobs, not scripts that go on without the lock.
@test "a file's conflict-exit-code is for what runs a command: a status that says whether it is held or open stays" {
    unset RLOCK_CONFIG
    foreign_hold x 60000
    redis SET gate 1
    echo 'conflict-exit-code = 0' >"$user"
    rlock run -xn x -- touch ran
    run -75 rlock acquire run -xn x
    run -75 rlock wait -x x
    run -75 rlock latch wait -xn gate
    run -0 rlock wait -xE 0 x
    assert_file_not_exist ran
}

@test "the user's file is found under XDG_CONFIG_HOME, else in ~/.config; under it, key by key, is /etc/rlock.conf" {
    unset RLOCK_CONFIG
    echo 'conflict-exit-code = 42' >"$user"
    mkdir -p here/rlock
    echo 'conflict-exit-code = 43' >here/rlock/rlock.conf
    run -42 rlock run -x -n x -- true
    XDG_CONFIG_HOME=here run -42 rlock run -x -n x -- true # it would be another in each directory
    (unset XDG_CONFIG_HOME; run -42 rlock run -x -n x -- true)
    printf 'conflict-exit-code = 43\nno-wait = yes\n' >etc/rlock.conf
    rlock_with_etc run -n x -- true
    assert_failure 42
    echo 'no-wait = yes' >one.conf # instead of both
    RLOCK_CONFIG=$PWD/one.conf rlock_with_etc run -n x -- true
    assert_failure 75
    rm "$user"
    rlock_with_etc run -n x -- true
    assert_failure 43
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

@test "the server: command line, then environment, then the files; -v, the log, status and doctor say which" {
    local url=$RLOCK_SERVER
    echo "server = unix://$PWD/none" >"$RLOCK_CONFIG" # the weakest
    named_by RLOCK_SERVER
    try status
    assert_stderr_has "$url, from RLOCK_SERVER"
    try status -s "$url"
    assert_equal "$stderr" ''
    RLOCK_SERVER=unix://$PWD/none named_by --server -s "$url"
    RLOCK_SERVER=unix://$PWD/none ends_saying 69 'named by RLOCK_SERVER' -- doctor
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

@test "64: a relative path in a variable would be another in each directory; a whole one may stand in a file" {
    local line
    for line in RLOCK_SERVER=local:here RLOCK_SERVER='redis://h local:../here' RLOCK_PASSWORD_FILE=here; do
        export "${line?}"
        ends_saying 64 "${line%%=*}" relative 'whole path' -- acquire run -n x
        unset RLOCK_SERVER
    done
    unset RLOCK_PASSWORD_FILE
    assert_file_not_exist here
    RLOCK_SERVER='"redis://h:6379"' ends_saying 64 'RLOCK_SERVER: it is in quotes' -- acquire run -n x
    for line in "local:$PWD/here" "local:%2f${PWD#/}/here"; do
        echo "server = $line" >"$RLOCK_CONFIG"
        try run -n x -- true
        assert_equal "$status: $line: $stderr" "0: $line: "
    done
    kill "$(cat here/redis.pid)"
    wait_until 5 test ! -e here/redis.pid
}

# misconfigured LINE TEXT -- CONTENT...: 78, and why, for that line of a file with these lines.
misconfigured() {
    printf '%s\n' "${@:4}" >"$RLOCK_CONFIG"
    ends_saying 78 "$RLOCK_CONFIG:$1: " "$2" -- run -x -n x -- touch ran
}

@test "78: what a file's lines come to together; no password is shown" {
    local one=unix://$PWD/1 two=unix://$PWD/2 three=unix://$PWD/3
    unset RLOCK_SERVER
    misconfigured 2 'must begin with redis://' -- 'wait = 0' 'server = memcached://h'
    misconfigured 2 even -- '' "server = $one $two"
    misconfigured 2 tls-cert -- '' 'tls-key = /k.pem'
    misconfigured 1 'no host' -- 'server = redis://user:sesame@:port/'
    refute_regex "$stderr" sesame
    misconfigured 2 'the path of a file that the password is in' -- '' 'password = sesame'
    refute_regex "$stderr" sesame
    # The one from the file, the other from the command line.
    echo 'tls-key = /k.pem' >"$RLOCK_CONFIG"
    rlock run -s "$(server_url main)" -x --tls-cert c.pem -n free -- true
    # That a file's servers do not suit the command is no mistake of the file's.
    echo "server = $one $two $three" >"$RLOCK_CONFIG"
    assert_usage 'rlock fair' -- fair -n x -- touch ran
    echo 'server = redis://user:sesame@127.0.0.1:1/0' >"$RLOCK_CONFIG"
    try run -x -v -n x -- true
    assert_failure 69
    refute_regex "$stderr" sesame
    assert_stderr_has 127.0.0.1:1
}

@test "78 at once: no file at all, no end of line, no plain text" {
    local file text
    mkfifo pipe
    mkdir dir
    truncate -s 1T endless
    printf '\xef\xbb\xbflease = 10s\n' >mark
    printf '\xff\xfel\0e\0a\0s\0e\0' >utf16
    printf '# a comment\nlease = 1\0000s\n' >nul
    while IFS='|' read -r file text; do
        RLOCK_CONFIG=$file refuses 0 1000 78 "$file" "$text" -- run -x -n x -- true
    done <<END
$PWD/pipe|pipe
$PWD/dir|directory
$PWD/endless|endless:1: the line is too long
/dev/zero|too long
$PWD/mark|mark:1: the file begins with a byte order mark
$PWD/utf16|utf16:1: the file begins with a byte order mark
$PWD/nul|nul:2: the line has a NUL byte
END
    RLOCK_CONFIG=/dev/null run -75 rlock run -x -n x -- true
    mkdir "$user"
    unset RLOCK_CONFIG
    ends_saying 78 "$user: cannot open" '; RLOCK_CONFIG may name another' -- run -x -n x -- true
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
    local expected etc mine variables variable words
    guarded
    while IFS='|' read -r expected etc mine variables words; do
        echo "password-file = $PWD/$etc" >etc/rlock.conf
        echo "${mine:+password-file = $PWD/$mine}" >"$user"
        (
            for variable in $variables; do
                export "${variable/PWD/$PWD}"
            done
            # shellcheck disable=SC2086
            rlock_with_etc run $words -n x -- true
            assert_equal "$etc, $mine, $variables, $words: $status" "$etc, $mine, $variables, $words: $expected"
            refute_regex "$stderr" 'wrong|pass word'
        )
    done <<'END'
0|right|||
77|wrong|||
0|wrong|right||
77|wrong|right|RLOCK_PASSWORD_FILE=PWD/wrong|
77|wrong|right|RLOCK_PASSWORD_FILE=PWD/right RLOCK_PASSWORD=no|
0|wrong|right|RLOCK_PASSWORD=no RLOCK_PASSWORD_FILE=PWD/none|--password-file right
77|wrong|right|RLOCK_PASSWORD_FILE=PWD/right|--password-file wrong
END
}

@test "password-file: not read for a server that takes none" {
    echo 'password-file = /nowhere/at/all' >"$RLOCK_CONFIG"
    dir=$(mktemp -d /tmp/rlock-test.XXXXXX)
    try run -s "local:$dir" -n x -- true
    kill "$(cat "$dir/redis.pid")"
    wait_until 5 test ! -e "$dir/redis.pid"
    rm -rf "$dir"
    assert_success
    port=$(free_ports 1)
    server_start guarded --requirepass 'pass word' --port "$port"
    rlock run -s "redis://:pass%20word@127.0.0.1:$port" -n x -- true
    run -78 rlock run -s "redis://alice@127.0.0.1:$port" -n x -- true
    run -78 rlock run -s "local:$dir" -s unix:///nowhere -s local:/tmp/none -n x -- true
}

@test "password-file: as on Windows, or from a pipe; its mistakes: 78, with the place that names it" {
    guarded
    printf 'pass word\r\n' >right
    rlock run --password-file right -n x -- true
    run -0 bash -c '"$0" run --password-file <(sleep 0.1; echo "pass word") -n x -- true' "$RLOCK"
    mkfifo silent
    exec 7<>silent
    refuses 4500 7000 78 'no data for 5 seconds' -- run --password-file silent -n x -- true
    exec 7>&-
    printf '# the password\npassword-file = %s\n' "$PWD/none" >"$user"
    ends_saying 78 "$PWD/none" "$user:2" 'No such file' -- run -n x -- true
    ends_saying 78 "$PWD: cannot read the password that --password-file names: " -- run --password-file "$PWD" -n x -- true
}
