#!/usr/bin/env bats
# doctor_tls.bats: rlock doctor on a server that speaks TLS.

load ../../lib/rlock
load ../../lib/tls
load ../../lib/doctor

@test "a certificate that is verified is as it should be, any taken a finding" {
    tls_server tls server --appendonly yes
    RLOCK_SERVER=$(tls_url tls)
    assert_healthy "${trust[@]}"
    assert_says ok tls 'encrypted, and its certificate verified'
    assert_finding tls 'the certificate is not verified.*--tls-ca' --tls-insecure
    ends_saying 77 certificate -- doctor
    assert_output ""
}
