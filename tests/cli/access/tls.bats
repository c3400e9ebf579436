#!/usr/bin/env bats
# tls.bats: rediss://: what it takes to be sure of the server, and what is said when one can't be. Each certificate, name
# and file is in unit/tls.

load ../../lib/rlock
load ../../lib/tls
load ../../lib/doctor

@test "databases, users; the system's authorities are trusted, and no others" {
    tls_server tls server
    redis_on tls ACL SETUSER alice on '>sesame' allkeys allchannels +@all
    run -0 rlock run "${trust[@]}" -s "$(tls_url tls alice:sesame@)/3" -n x -- printenv RLOCK_SERVER
    assert_output "$(tls_url tls alice@)/3"
    assert_equal "$(redis_on tls -n 3 GET 'redisson_lock_token:{x}')" 1
    # All of the system's authorities are read: for an emulated program that is work of a second, if it has a processor.
    refused 77 'an authority that is not trusted here' --tls-ca -- run --connect-timeout 30s -s "$(tls_url tls)" -n x
    refused 77 "$PWD/none.pem: No such file" -- run --tls-ca "$PWD/none.pem" -s "$(tls_url tls)" -n x
    SSL_CERT_FILE=$certificates/ca.pem rlock run -s "$(tls_url tls)" -n x -- true
}

# bats test_tags=module
@test "the module is found from where the program is installed; without it there is no TLS: 71" {
    local build
    build=$(dirname "$RLOCK")/..
    tls_server tls server
    cmake --install "$build" --prefix "$PWD/prefix" >install.log
    run -0 prefix/bin/rlock run "${trust[@]}" -s "$(tls_url tls)" -n x -- \
        sh -c 'pid=${RLOCK_OWNER#*:}; cat /proc/"${pid%@*}"/maps'
    assert_output --regexp "$PWD/prefix/.*/librlock-tls.so"
    find prefix -name 'librlock-tls.so*' -delete
    RLOCK=prefix/bin/rlock
    refused 71 'no TLS' librlock-tls.so.0 -- run "${trust[@]}" -s "$(tls_url tls)" -n x
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

# A server that can't be trusted is not told anything, least of all a password.
@test "77: a certificate that is not good, here in its chain; --tls-insecure takes any" {
    tls_server tls below
    refused 77 'an issuer certificate in its chain has expired' -- run "${trust[@]}" -s "$(tls_url tls :sesame@)" -n x
    refute_regex "$stderr" sesame
    assert_equal "$(calls auth tls)" 0
    rlock run --tls-insecure -s "$(tls_url tls)" -n x -- true
}

@test "a server that wants a certificate; all that it takes from a config file, for a fleet" {
    tls_server tls named --tls-auth-clients yes
    unset RLOCK_SERVER
    cat >"$RLOCK_CONFIG" <<-END
	server = $(tls_url tls)
	tls-ca = $certificates/ca.pem
	tls-cert = $certificates/client.pem
	tls-key = $certificates/client.key
	tls-name = redis.example
	END
    rlock run -n x -- rlock run -x -n x -- true
    printf 'server = %s\ntls-insecure = yes\n' "$(tls_url tls)" >"$RLOCK_CONFIG"
    refused 77 'the server requires a client certificate' --tls-cert --tls-key -- run -n x
}

@test "69, after --connect-timeout: the wrong port" {
    local to=(run "${trust[@]}" --connect-timeout 500ms -n x -s) ports url
    tls_server tls server
    ports=$(<"$BATS_FILE_TMPDIR/tls/ports") # for TLS, and without
    # It closes without a word.
    for url in "redis://127.0.0.1:${ports% *}" "sentinel://127.0.0.1:${ports% *}/m" "cluster://127.0.0.1:${ports% *}"; do
        refuses 0 3000 69 TLS " ${url%%://*}s://" -- "${to[@]}" "$url" -- touch ran
    done
    # It takes our first message for the beginning of a long line and waits for the rest.
    for url in "rediss://127.0.0.1:${ports#* }" "sentinels://127.0.0.1:${ports#* }/m" "clusters://127.0.0.1:${ports#* }"; do
        refuses 400 3000 69 TLS " ${url%%s://*}://" -- "${to[@]}" "$url" -- touch ran
    done
}

@test "doctor: a certificate that is verified is as it should be, any taken a finding" {
    tls_server tls server --appendonly yes
    RLOCK_SERVER=$(tls_url tls)
    assert_healthy "${trust[@]}"
    assert_says ok tls 'encrypted, and its certificate verified'
    assert_finding tls 'the certificate is not verified.*--tls-ca' --tls-insecure
    ends_saying 77 certificate -- doctor
    assert_output ""
}
