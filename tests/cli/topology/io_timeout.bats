#!/usr/bin/env bats
# io_timeout.bats: --io-timeout has an upper bound too: a reply that does not come is waited for so long, and no longer.

load ../../lib/rlock

setup() {
    rlock_setup
    rlock run -n x -- true # the server has the token
    proxy_start
}

# gives_up STATUS SCRIPT[-KIND] COMMAND ARG...: while the first reply to the script stays away for ever, rlock COMMAND
# ARG... ends with the status after --io-timeout, or after half of it: what only gives back is asked again by then.
gives_up() {
    # shellcheck disable=SC2086 # words
    proxy mute-reply "$(sha ${2/-/ })" 1
    took 300 2500 rlock "${@:3:1}" -q --io-timeout 600ms "${@:4}"
    assert_equal "$*: $status" "$*: $1"
    proxy pass
}

@test "acquire: asked again when --io-timeout is over" {
    gives_up 0 acquire run -x -n x -- true
    gives_up 0 acquire-fair fair -x -n x -- true
    gives_up 0 acquire-read read -x -n y -- true
    gives_up 0 acquire-sem sem -x -n z --permits 2 -- true
    assert_bitten lost-reply 4
}

@test "release: the command's status when --io-timeout is over" {
    gives_up 5 release run -n x -- sh -c 'exit 5'
    assert_bitten lost-reply
}

@test "a server that falls silent for good: 69 after two times at most" {
    local io
    for io in 300 900; do
        proxy pass
        proxy mute-reply evalsha 1 1000
        took "$io" "$((2 * io + 900))" rlock run -q -x --io-timeout "${io}ms" -n x -- touch ran
        assert_equal "$io: $status" "$io: 69"
    done
    assert_file_not_exist ran
}

@test "by a handle: check and release" {
    local handle
    handle=$(rlock acquire run -n x)
    proxy hang
    took 300 1500 rlock check --connect-timeout 300ms --io-timeout 300ms "$handle"
    assert_equal "$status" 69
    took 300 1500 rlock release --connect-timeout 300ms --io-timeout 300ms "$handle"
    assert_equal "$status" 69
    proxy pass
    try release "$handle"
}
