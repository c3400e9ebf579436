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

# login STATUS USERINFO [VARIABLE...]: how a try at that address ends. What is refused names it, and tells no password.
login() {
    local user=${2%%[:@]*}
    rm -f ran
    run --separate-stderr env "${@:3}" timeout 60 "$RLOCK" run -q -s "sentinel://$2${plain#sentinel://}" -n x -- touch ran
    assert_equal "$2 ${*:3}: $status" "$2 ${*:3}: $1"
    if (($1 == 0)); then
        assert_equal "$stderr" ""
        assert_file_exist ran
    else
        assert_message
        assert_stderr_has x "sentinel://${user:+$user@}${plain#sentinel://}"
        refute_regex "$stderr" 'open|wrong|sesame|sentries|ers@'
        assert_file_not_exist ran
    fi
}

@test "one password for all: in the address, RLOCK_PASSWORD, RLOCK_PASSWORD_FILE; nobody hears of it" {
    guarded sesame sesame
    echo sesame >secret
    login 0 :sesame@
    login 77 :open@
    login 77 ''
    login 0 '' "RLOCK_PASSWORD_FILE=$PWD/secret"
    RLOCK_PASSWORD=sesame run -0 rlock run -s "$plain" -n x -- rlock run -x -n x -- sh -c 'echo "$RLOCK_TOKEN"'
    assert_output 3
    run -0 rlock run -v -s "sentinel://:sesame@${plain#*//}/3" -n x -- env
    refute_output --partial sesame
    assert_output --partial "RLOCK_SERVER=$plain/3"
}

@test "the Sentinels' own: in the address, with RLOCK_PASSWORD for the servers" {
    guarded 'serv/ers@' sentries
    login 0 :sentries@ 'RLOCK_PASSWORD=serv/ers@'
    assert_equal "$(redis GET 'redisson_lock_token:{x}')" 1
    login 77 :wrong@ 'RLOCK_PASSWORD=serv/ers@'
    login 77 :sentries@ RLOCK_PASSWORD=wrong
}

@test "a user of the servers, and the Sentinels' own password, of a user with that name or of all" {
    guarded '' ''
    redis ACL SETUSER alice on '>p@ss' allkeys allchannels +@all
    for name in s1 s2 s3; do
        redis_on "$name" ACL SETUSER alice on '>sentries' allchannels +@all
        redis_on "$name" ACL SETUSER default '-sentinel|get-master-addr-by-name'
    done
    changed
    login 0 alice:sentries@ 'RLOCK_PASSWORD=p@ss'
    login 77 alice:sentries@ RLOCK_PASSWORD=wrong
    for name in s1 s2 s3; do
        redis_on "$name" ACL SETUSER alice off
        redis_on "$name" ACL SETUSER default '>sentries' resetpass '>sentries' '+sentinel|get-master-addr-by-name'
    done
    sentinels_password=sentries
    login 0 alice:sentries@ 'RLOCK_PASSWORD=p@ss'
    RLOCK_PASSWORD='p@ss' run rlock doctor -s "sentinel://alice:sentries@${plain#*//}"
    assert_line --regexp '^ok +sentinel +3 of 3 answer'
    login 77 alice:wrong@ 'RLOCK_PASSWORD=p@ss'
}

@test "Sentinels that ask for none: user and password are the servers'" {
    guarded '' ''
    redis ACL SETUSER alice on '>p@ss' allkeys allchannels +@all
    changed
    login 0 alice:p%40ss@
    redis ACL SETUSER default '>other' resetpass # which no replica follows with
    login 77 alice:wrong@
}
