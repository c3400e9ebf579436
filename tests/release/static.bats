#!/usr/bin/env bats
# static.bats: the static program, in a tree that has nothing else: names, TLS, JSON, commands. tests/run release
# names it in RLOCK_BIN.

load ../lib/rlock
load ../lib/tls

setup() {
    tls_setup
    ((EUID == 0)) || skip "needs root"
    root=$PWD/root
    mkdir -p "$root/etc"
    cp "$RLOCK" "$certificates/ca.pem" "$root"
    # Its name is in its certificate. Nobody else is here to be asked for names.
    net_server tls --tls-port 6390 --tls-auth-clients no --tls-cert-file "$certificates/server.pem" \
        --tls-key-file "$certificates/server.key" --tls-ca-cert-file "$certificates/ca.pem"
}

# inside ARG...: the program with the tree as its root, beside the server.
inside() {
    run --separate-stderr in_net tls env -i PATH="$PATH" TEST_MARK="$TEST_MARK" timeout 30 chroot "$root" /rlock "$@"
    printf '%s\n' "status $status: rlock $*" "$output" "$stderr"
}

inside_tls() { # COMMAND ARG...
    inside "$1" -s rediss://redis.example:6390 --tls-ca /ca.pem "${@:2}"
}

with_proc() {
    mkdir "$root/proc"
    mount -t proc proc "$root/proc"
}

teardown() {
    ! mountpoint -q "$root/proc" || umount "$root/proc"
    rlock_teardown
}

dns() { # NAME ADDRESS
    echo 'nameserver 127.0.0.1' >"$root/etc/resolv.conf"
    helper nsenter -t "$(server_pid tls)" -n python3 "$TOOLS/dns.py" "$@"
    wait_until 10 test -e dns.ready
}

@test "no loader, no library and no fixed place but its own" {
    run -0 readelf -lW "$RLOCK"
    refute_output --partial INTERP
    refute_output --partial DYNAMIC
    assert_output --partial 'Elf file type is EXEC'
    assert_output --partial GNU_RELRO
    refute_output --regexp 'GNU_STACK.*E '
}

@test "alone in its tree it says its version, and that it has no name server" {
    inside --version
    assert_equal "$status: $output" "0: $("$RLOCK" --version)"
    inside_tls status x
    assert_equal "$status" 69
    assert_message
    assert_stderr_has redis.example
}

@test "a name in /etc/hosts, TLS with an authority of one's own, a command, JSON" {
    with_proc
    echo '127.0.0.1 redis.example' >"$root/etc/hosts"
    inside_tls run -n x -- /rlock status --json -s rediss://redis.example:6390 --tls-ca /ca.pem x
    assert_equal "$status: $stderr" "0: "
    run -0 python3 -c 'import json, sys; lock, = json.loads(sys.argv[1]); print(lock["name"], lock["state"], lock["token"])' "$output"
    assert_output "x held 1"
}

@test "a name by DNS, whatever nsswitch.conf says; one that nobody knows is unavailable, by that name" {
    dns redis.example 127.0.0.1
    echo 'hosts: mymachines wins sss' >"$root/etc/nsswitch.conf"
    inside_tls status x
    assert_equal "$status: $stderr" "0: "
    run -0 sort -u dns.log
    assert_output redis.example
    inside status -s redis://other.example x
    assert_equal "$status" 69
    assert_message
    assert_stderr_has other.example
}
