# tls.bash: servers that speak TLS, and certificates for them: see certificates.bash. Is loaded after
# rlock.bash: a file's setup and so on come from here.
#
# All servers have a Unix socket too, in the clear, so that redis_on and the rest of server.bash work.
# shellcheck shell=bash

source "$TESTS/lib/ports.bash"

setup_file() {
    rlock_setup_file
    mkdir -p "$BATS_FILE_TMPDIR/certificates"
    bash "$TESTS/lib/certificates.bash" "$BATS_FILE_TMPDIR/certificates"
}

setup() { tls_setup; }

tls_setup() {
    rlock_setup
    unset "${!SSL_CERT_@}"
    certificates=$BATS_FILE_TMPDIR/certificates
    trust=(--tls-ca "$certificates/ca.pem")
}

# tls_server NAME CERTIFICATE [OPTION...]: a redis-server that speaks TLS on one port and is plain on
# another, and asks nobody for a certificate. One that comes back has the ports that it had.
tls_server() {
    local dir=$BATS_FILE_TMPDIR/$1 tls plain
    mkdir -p "$dir"
    [[ -f $dir/ports ]] || free_ports 2 >"$dir/ports"
    read -r tls plain <"$dir/ports"
    server_start "$1" --bind 127.0.0.1 --port "$plain" --tls-port "$tls" --tls-auth-clients no \
        --tls-cert-file "$certificates/$2.pem" --tls-key-file "$certificates/$2.key" \
        --tls-ca-cert-file "$certificates/ca.pem" "${@:3}"
}

tls_port() { # SERVER
    cut -d ' ' -f 1 "$BATS_FILE_TMPDIR/$1/ports"
}

# tls_url SERVER [USERINFO@]
tls_url() {
    echo "rediss://${2-}127.0.0.1:$(tls_port "$1")"
}

# refused STATUS TEXT... -- ARG...: see ends_saying; it would run a command.
refused() {
    ends_saying "$@" -- touch ran
}
