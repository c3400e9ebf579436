#!/usr/bin/env bats
# tls.bats: rediss://: what it takes to be sure of the server, and what is said when one can't be.

load ../../lib/rlock
load ../../lib/tls

@test "rediss:// takes the lock and gives it back; a nested rlock finds it" {
    tls_server tls server
    try run "${trust[@]}" -s "$(tls_url tls)" -n x -- \
        sh -c 'echo "$RLOCK_SERVER"; rlock run -x "$@" -n x -- printenv RLOCK_TOKEN' sh "${trust[@]}"
    assert_success
    assert_output "$(tls_url tls)"$'\n1'
    assert_equal "$(redis_on tls --scan)" 'redisson_lock_token:{x}'
}

@test "host names, addresses, databases, users" {
    local host
    tls_server tls server
    redis_on tls ACL SETUSER alice on '>sesame' allkeys allchannels +@all
    for host in 127.0.0.1 localhost; do
        [[ $host != localhost ]] || getent hosts localhost >/dev/null || continue
        try run "${trust[@]}" -s "rediss://alice:sesame@$host:$(tls_port tls)/3" -n "$host" -- printenv RLOCK_SERVER
        assert_success
        assert_output "rediss://alice@$host:$(tls_port tls)/3"
        assert_equal "$(redis_on tls -n 3 GET "redisson_lock_token:{$host}")" 1
    done
}

# bats test_tags=module
@test "only who uses TLS maps it" {
    local maps=("sh" "-c" 'pid=${RLOCK_OWNER#*:}; cat /proc/"${pid%@*}"/maps')
    tls_server tls server
    try run "${trust[@]}" -s "$(tls_url tls)" -n x -- "${maps[@]}"
    assert_success
    assert_output --partial librlock-tls.so
    assert_output --partial libssl.so
    assert_output --partial libcrypto.so
    for url in "$(server_url tls)" "redis://127.0.0.1:$(plain_port tls)"; do
        try run "${trust[@]}" -s "$url" -n x -- "${maps[@]}"
        assert_success
        assert_output --partial /libc
        refute_output --partial librlock-tls
        refute_output --partial libssl
        refute_output --partial libcrypto
    done
}

# bats test_tags=module
@test "the module is found from where the program is installed; without it there is no TLS: 71" {
    local build
    build=$(dirname "$RLOCK")/..
    tls_server tls server
    cmake --install "$build" --prefix "$PWD/prefix" >install.log
    run --separate-stderr prefix/bin/rlock run "${trust[@]}" -s "$(tls_url tls)" -n x -- \
        sh -c 'pid=${RLOCK_OWNER#*:}; cat /proc/"${pid%@*}"/maps'
    assert_success
    assert_output --regexp "$PWD/prefix/.*/librlock-tls.so"
    find prefix -name 'librlock-tls.so*' -delete
    run --separate-stderr prefix/bin/rlock run "${trust[@]}" -s "$(tls_url tls)" -n x -- touch ran
    assert_equal "$status" 71
    assert_message
    assert_stderr_has 'no TLS' librlock-tls.so.0
    assert_file_not_exist ran
}

# bats test_tags=module
@test "a program that uses the library has TLS from beside that" {
    local build library
    build=$(dirname "$RLOCK")/..
    ! grep -q '^RLOCK_SANITIZE:[^=]*=.' "$build/CMakeCache.txt" || skip "not for a build with a sanitizer"
    tls_server tls server
    cmake --install "$build" --prefix "$PWD/prefix" >install.log
    library=$(dirname "$(find "$PWD/prefix" -name librlock.so)")
    cc -I prefix/include -o worker prefix/share/doc/rlock/examples/c/worker.c -L "$library" -Wl,-rpath,"$library" -lrlock
    SSL_CERT_FILE=$certificates/ca.pem run -0 ./worker x "$(tls_url tls)"
    assert_output 'token 1'
}

@test "the system's authorities are trusted, and no others" {
    tls_server tls server
    refused 77 'an authority that is not trusted here' --tls-ca -- run -s "$(tls_url tls)" -n x
    SSL_CERT_FILE=$certificates/ca.pem try run -s "$(tls_url tls)" -n x -- true
    assert_success
}

# A server that can't be trusted is not told anything, least of all a password.
@test "77: the certificate of another authority, expired, not valid yet, of another host; --tls-insecure takes any" {
    local certificate why
    while IFS='|' read -r certificate why; do
        tls_server tls "$certificate"
        refused 77 "$why" -- run "${trust[@]}" -s "$(tls_url tls :sesame@)" -n x
        refute_regex "$stderr" sesame
        assert_equal "$certificate: $(calls auth tls)" "$certificate: 0"
        try run --tls-insecure -s "$(tls_url tls)" -n x -- true
        assert_equal "$certificate: $status" "$certificate: 0"
        server_stop tls
    done <<END
foreign|an authority that is not in $certificates/ca.pem
expired|its certificate has expired
below|an issuer certificate in its chain has expired
future|its certificate is not valid yet
named|its certificate is for redis.example, *.wild.example, not for 127.0.0.1
END
    tls_server tls named
    try run "${trust[@]}" -s "$(tls_url tls)" --tls-name redis.example -n x -- true
    assert_success
    refused 77 'not for another.example' -- \
        run "${trust[@]}" -s "$(tls_url tls)" --tls-name another.example -n x
}

# --- our own certificate -----------------------------------------------------------------------

@test "77: the server wants a certificate, and there is none, or one that it does not know" {
    local ours
    tls_server tls server --tls-auth-clients yes
    refused 77 'the server requires a client certificate' --tls-cert --tls-key -- \
        run "${trust[@]}" -s "$(tls_url tls)" -n x
    mapfile -t ours < <(as foreign)
    refused 77 'the server refuses our certificate' 'the authority that signed it' -- \
        run "${trust[@]}" "${ours[@]}" -s "$(tls_url tls)" -n x
    mapfile -t ours < <(as client)
    try run "${trust[@]}" "${ours[@]}" -s "$(tls_url tls)" -n x -- true
    assert_success
    assert_equal "$(redis_on tls --scan)" 'redisson_lock_token:{x}'
}

@test "77: a file that can't be used, by its name" {
    tls_server tls server
    refused 77 "$PWD/none.pem: No such file" -- run --tls-ca "$PWD/none.pem" -s "$(tls_url tls)" -n x
}

@test "all of it from a config file, for a fleet" {
    tls_server tls named --tls-auth-clients yes
    unset RLOCK_SERVER
    cat >"$RLOCK_CONFIG" <<-END
	server = $(tls_url tls)
	tls-ca = $certificates/ca.pem
	tls-cert = $certificates/client.pem
	tls-key = $certificates/client.key
	tls-name = redis.example
	END
    try run -n x -- rlock run -x -n x -- true
    assert_success
    printf 'server = %s\ntls-insecure = yes\n' "$(tls_url tls)" >"$RLOCK_CONFIG"
    refused 77 'requires a client certificate' -- run -n x
}

# --- the wrong port ----------------------------------------------------------------------------

# It closes without a word.
@test "69: plain to a port that speaks TLS" {
    tls_server tls server
    took 0 3000 rlock run --connect-timeout 500ms -s "redis://127.0.0.1:$(tls_port tls)" -n x -- touch ran
    assert_equal "$status" 69
    assert_message
    assert_stderr_has TLS rediss://
    assert_file_not_exist ran
}

# It takes our first message for the beginning of a long line and waits for the rest.
@test "69: TLS to a port that does not speak it, after --connect-timeout" {
    tls_server tls server
    took 400 3000 rlock run "${trust[@]}" --connect-timeout 500ms -s "rediss://127.0.0.1:$(plain_port tls)" -n x -- touch ran
    assert_equal "$status" 69
    assert_message
    assert_stderr_has TLS redis://
    assert_file_not_exist ran
}

@test "69: a server that hangs in the handshake, after --connect-timeout" {
    tls_server tls server
    kill -STOP "$(server_pid tls)"
    took 400 3000 rlock run "${trust[@]}" --connect-timeout 500ms -s "$(tls_url tls)" -n x -- touch ran
    kill -CONT "$(server_pid tls)"
    assert_equal "$status" 69
    assert_message
    assert_file_not_exist ran
}

@test "69: nobody listens" {
    tls_server tls server
    server_stop tls
    refused 69 'Connection refused' -- run "${trust[@]}" --connect-timeout 300ms -s "$(tls_url tls)" -n x
}
