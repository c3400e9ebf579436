#!/usr/bin/env bats
# sentinel_auth.bats: passwords of the servers, passwords of the Sentinels, and who hears of them.

load ../../lib/rlock
load ../../lib/sentinel

setup_file() { :; }

setup() {
    topology_stop # the last test's
    servers_password='' sentinels_password=''
}

# Each in its own tongue.
redis_on() {
    local dir=$BATS_FILE_TMPDIR/$1 password=$servers_password
    [[ $1 != s? ]] || password=$sentinels_password
    shift
    timeout 10 env ${password:+REDISCLI_AUTH="$password"} redis-cli -s "$dir/sock" "$@"
}

# guarded SERVERS' SENTINELS': passwords, '' for none.
guarded() {
    servers_password=$1 sentinels_password=$2
    if [[ -n $1 ]]; then
        server_options=(--requirepass "$1" --masterauth "$1")
        sentinel_options+=("sentinel auth-pass m $1")
    fi
    [[ -z $2 ]] || sentinel_options+=("requirepass $2" "sentinel sentinel-pass $2")
    topology_start
    rlock_setup
    plain=$(sentinel_url s1 s2 s3)
}

with() { # USERINFO
    echo "sentinel://$1@${plain#sentinel://}"
}

# refused PASSWORD...: 77, the address (of USER@, if that is set), and none of the passwords.
refused() {
    local password
    assert_failure 77
    assert_message
    assert_stderr_has x "sentinel://${user-}${plain#sentinel://}"
    for password; do
        refute_regex "$stderr" "$password"
    done
    assert_file_not_exist ran
}

taken() {
    assert_equal "$status: $stderr" "0: "
}

@test "one password for all: in the address, RLOCK_PASSWORD, RLOCK_PASSWORD_FILE; nobody hears of it" {
    guarded sesame sesame
    try run -s "$(with :sesame)" -n x -- true
    taken
    try run -q -s "$(with :open)" -n x -- touch ran
    refused open
    try run -q -s "$plain" -n x -- touch ran
    refused
    RLOCK_PASSWORD=sesame try run -s "$plain" -n x -- rlock run -x -n x -- sh -c 'echo "$RLOCK_TOKEN"'
    taken
    assert_output 2
    echo sesame >secret
    RLOCK_PASSWORD_FILE=$PWD/secret try run -s "$plain" -n x -- true
    taken
    RLOCK_PASSWORD=open try run -q -s "$plain" -n x -- touch ran
    refused open
    try run -v -s "$(with :sesame)/3" -n x -- env
    assert_success
    refute_output --partial sesame
    refute_regex "$stderr" sesame
    assert_output --partial "RLOCK_SERVER=$plain/3"
    freeze s1 s2 s3
    try run -v -x --connect-timeout "$(ms 300)" -s "$(with :sesame)/3" -n x -- touch ran
    assert_failure 69
    refute_regex "$stderr" sesame
    assert_stderr_has "$plain/3"
}

@test "the Sentinels' own: in the address, with RLOCK_PASSWORD for the servers" {
    guarded 'serv/ers@' sentries
    RLOCK_PASSWORD='serv/ers@' try run -s "$(with :sentries)" -n x -- true
    taken
    assert_equal "$(redis GET 'redisson_lock_token:{x}')" 1
    RLOCK_PASSWORD='serv/ers@' try run -q -s "$(with :wrong)" -n x -- touch ran
    refused wrong ers@
    RLOCK_PASSWORD=wrong try run -q -s "$(with :sentries)" -n x -- touch ran
    refused wrong sentries
}

@test "Sentinels that ask for none: user and password are the servers'" {
    guarded '' ''
    redis ACL SETUSER alice on '>p@ss' allkeys allchannels +@all
    changed
    try run -s "$(with alice:p%40ss)" -n x -- true
    taken
    redis ACL SETUSER default '>other' resetpass # which no replica follows with
    try run -q -s "$(with alice:wrong)" -n x -- touch ran
    user=alice@ refused wrong
}
