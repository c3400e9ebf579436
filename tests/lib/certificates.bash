#!/bin/bash
# certificates.bash DIRECTORY: authorities and certificates for the tests of TLS, NAME.pem and NAME.key each.
#
#   ca, other-ca      two authorities
#   server            good: for localhost, redis.example, 127.0.0.1 and ::1
#   named             for redis.example and *.wild.example only
#   partial           for w*.wild.example and *d.wild.example only
#   common            for redis.example, in the old way: by its subject alone
#   chained           good, by way of an authority in between, which stands in the file
#   expired, future   good but for its time
#   below             good, but for the time of the authority in between
#   foreign           good, but signed by other-ca
#   client            a client's; client-locked.key is its key under a passphrase
#                     other.key is of another sort
set -euo pipefail
cd "$1"

quietly() {
    local said
    said=$("$@" 2>&1 </dev/null) && return
    printf '%s\n' "$said" >&2
    return 1
}

# issue NAME SUBJECT EXTENSIONS AUTHORITY [START END]: signed by the authority, by itself when that is
# its own name.
issue() {
    local by=(-cert "$4.pem" -keyfile "$4.key")
    quietly openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config config \
        -subj "/CN=$2" -keyout "$1.key" -out "$1.csr"
    [[ $4 != "$1" ]] || by=(-selfsign -keyfile "$1.key")
    printf '%b' "$3" >extensions
    quietly openssl ca -batch -notext -config config "${by[@]}" -extfile extensions \
        -startdate "${5:-20200101000000Z}" -enddate "${6:-20491231000000Z}" -in "$1.csr" -out "$1.pem"
    rm "$1.csr"
}

cat >config <<'END'
[ca]
default_ca = here
[here]
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
email_in_dn = no
[any]
commonName = supplied
[req]
distinguished_name = none
[none]
END
: >index

authority='basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign\nsubjectKeyIdentifier=hash\n'
here='subjectAltName=DNS:localhost,DNS:redis.example,IP:127.0.0.1,IP:::1\n'
issue ca 'the authority' "$authority" ca
issue other-ca 'another authority' "$authority" other-ca
issue between 'an authority in between' "$authority" ca
issue server server "$here" ca
issue named server 'subjectAltName=DNS:redis.example,DNS:*.wild.example\n' ca
issue partial server 'subjectAltName=DNS:w*.wild.example,DNS:*d.wild.example\n' ca
issue common redis.example 'basicConstraints=CA:false\n' ca
issue chained server "$here" between
cat between.pem >>chained.pem
issue expired server "$here" ca 20200101000000Z 20200201000000Z
issue over 'an authority that was' "$authority" ca 20200101000000Z 20200201000000Z
issue below server "$here" over
cat over.pem >>below.pem
issue future server "$here" ca 20480101000000Z 20491231000000Z
issue foreign server "$here" other-ca
issue client client 'extendedKeyUsage=clientAuth\n' ca
quietly openssl pkey -aes256 -passout pass:sesame -in client.key -out client-locked.key
quietly openssl genpkey -algorithm ed25519 -out other.key
