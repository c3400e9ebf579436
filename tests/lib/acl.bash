# acl.bash: the main server, where rlock may do what rlock-server(7) says of a kind, and no more. The tests
# themselves speak to it as the user admin. Needs actors.bash and rights.bash.
# shellcheck shell=bash

declare -gA how=( # each kind of the manual as a command line, but for the name
    [run]=run [fair]=fair [read]=read [write]=write [sem]='sem --permits 1' ['sem --plain']='sem --plain --permits 1'
    ['sem --resize']='sem --resize 1' ['latch set']='latch set --count 2' ['latch down']='latch down'
    ['latch wait']='latch wait')

setup_file() {
    rlock_setup_file
    redis-cli -s "$BATS_FILE_TMPDIR/main/sock" ACL SETUSER admin on '>admin' '~*' '&*' +@all
}

redis_on() {
    timeout 10 redis-cli -s "$BATS_FILE_TMPDIR/$1/sock" --no-auth-warning --user admin --pass admin "${@:2}"
}

# allow KIND [WITHOUT]: who comes over the Unix socket has the rights of that kind from now on, but one.
allow() {
    give main default "${2:-}" "$1"
}

# take KIND [ARG...]: of x, by try.
take() {
    # shellcheck disable=SC2086
    try ${how[$1]} -n x "${@:2}"
}

# Somebody else has x, as that kind, for a while: nobody else comes in.
occupy() { # KIND
    case $1 in
    run | fair) foreign_hold x 60000 ;;
    read) redis HSET x mode write "$foreign_owner:write" 1 && redis PEXPIRE x 60000 ;;
    write) redis HSET x mode read "$foreign_owner" 1 && redis PEXPIRE x 60000 &&
        redis SET "{x}:$foreign_owner:rwlock_timeout:1" 1 PX 60000 ;;
    sem) redis SET x 0 && redis ZADD '{x}:timeout' 9999999999999 0123456789abcdef ;;
    'sem --plain') redis SET x 0 ;;
    latch*) redis SET x 2 ;;
    *) : ;;
    esac >/dev/null
}

listening() {
    [[ -n $(redis PUBSUB CHANNELS) ]]
}

# assert_all_end WHAT: it leaves nothing that has no end, but tokens, a number under the name itself, and the permit that was
# put there by occupy.
assert_all_end() {
    local key
    for key in $(keys_left); do
        [[ $(redis PTTL "$key") != -1 || $key$(redis TYPE "$key") == xstring ||
            $(redis ZRANGE "$key" 0 -1) == 0123456789abcdef ]] || fail "$* leaves $key for ever"
    done
}

# assert_refused WHAT: that rlock has just said so, and nothing was taken.
assert_refused() {
    assert_equal "$*: $status" "$*: 77"
    assert_message
    assert_stderr_has denied
    assert_file_not_exist ran
    assert_all_end "$@"
}
