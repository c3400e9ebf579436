#!/usr/bin/env bats
# options_server.bats: the options that say where the lock lives and how it is reached: several servers,
# replicas, TLS. What they do is in the files of each; here, what they refuse before a server is asked.

load ../../lib/rlock

# Three addresses at which nobody listens.
setup() {
    rlock_setup
    one=unix://$PWD/1 two=unix://$PWD/2 three=unix://$PWD/3
}

@test "several servers are an odd number of different ones" {
    assert_usage --server even '1 or 3' -- run -n x -s "$one" -s "$two" -- touch ran
    assert_usage --server even '3 or 5' -- read -n x -s "$one $two" -s "$three" -s unix:///4 -- touch ran
    assert_usage --server 'numbers 1 and 3' -- write -n x -s "$one" -s "$two" -s "$one" -- touch ran
    assert_usage --server 'numbers 2 and 3' -- run -n x -s "$one" -s "$two" -s "$two?db=1" -- touch ran
    RLOCK_SERVER="$one $two" assert_usage RLOCK_SERVER even -- run -n x -- touch ran
}

@test "several servers are single ones" {
    local group
    for group in sentinel://h/m sentinels://h/m cluster://h clusters://h; do
        assert_usage --server 'number 2' -- run -n x -s "$one" -s "$group" -s "$three" -- touch ran
    done
}

@test "several servers are for run, read and write" {
    local servers=(-s "$one" -s "$two" -s "$three")
    assert_usage 'rlock fair' -- fair -n x "${servers[@]}" -- touch ran
    assert_usage 'rlock sem' -- sem -n x --permits 1 "${servers[@]}" -- touch ran
    assert_usage 'rlock sem' -- sem -n x --resize 1 "${servers[@]}"
    assert_usage 'rlock latch set' -- latch set -n x --count 1 "${servers[@]}"
    assert_usage 'rlock latch down' -- latch down -n x "${servers[@]}" -- touch ran
    assert_usage 'rlock latch wait' -- latch wait -n x "${servers[@]}" -- touch ran
}

@test "an option replaces all servers of weaker sources, the environment those of the files" {
    echo "server = $one $two $three" >"$RLOCK_CONFIG"
    RLOCK_SERVER="$two $three $one" try run -n x -s "$(server_url main)" -- printenv RLOCK_SERVER
    assert_success
    assert_output "$(server_url main)"
    try run -n x -- true
    assert_success
}

@test "servers of a config file: on one line; what can't be a quorum is told with the line" {
    unset RLOCK_SERVER
    printf '\nserver = %s %s\n' "$one" "$two" >"$RLOCK_CONFIG"
    try run -n x -- touch ran
    assert_failure 78
    assert_message
    assert_stderr_has "$RLOCK_CONFIG:2: " even
    printf '\nserver = %s\nserver = %s\n' "$one" "$two" >"$RLOCK_CONFIG"
    try run -n x -- touch ran
    assert_failure 78
    assert_message
    assert_stderr_has "$RLOCK_CONFIG:3: " 'one line'
    # That a file's servers do not suit the command is no mistake of the file's.
    printf '\nserver = %s %s %s\n' "$one" "$two" "$three" >"$RLOCK_CONFIG"
    assert_usage 'rlock fair' -- fair -n x -- touch ran
    assert_file_not_exist ran
}

@test "a password in several servers is never shown" {
    assert_usage even -- run -n x -s redis://u:sesame@h -s redis://u:sesame@i -- touch ran
    refute_regex "$stderr" sesame
    assert_usage 'number 1' -- run -n x -s cluster://u:sesame@h -s redis://u:sesame@i -s "$one" -- touch ran
    refute_regex "$stderr" sesame
}

@test "--replicas, --replica-timeout: numbers that can't be" {
    local bad
    for bad in -1 '' one 1.5 101 9999999999; do
        assert_usage --replicas 'from 0 to 100' -- run -n x "--replicas=$bad" -- touch ran
    done
    assert_usage --replica-timeout 1ms -- run -n x --replica-timeout 0 -- touch ran
    assert_usage --replicas -- latch wait -n x --replicas 1
}

@test "--tls-cert and --tls-key: both, or none" {
    assert_usage --tls-cert --tls-key -- run -n x --tls-cert c.pem -- touch ran
    assert_usage --tls-key --tls-cert -- run -n x --tls-key k.pem -- touch ran
    assert_usage --tls-ca empty -- run -n x --tls-ca '' -- touch ran
    assert_usage --tls-cert --tls-key -- latch set -n x --count 1 --tls-cert c.pem
    printf '\ntls-key = /k.pem\n' >"$RLOCK_CONFIG"
    try run -n x -- touch ran
    assert_failure 78
    assert_message
    assert_stderr_has "$RLOCK_CONFIG:2: " tls-cert
    # The one from the file, the other from the command line.
    try run -n x --tls-cert c.pem -- true
    assert_success
}

@test "a fleet's file may say how replicas and TLS are used" {
    printf '%s\n' 'replicas = 0' 'replica-timeout = 2s' 'tls-ca = /ca.pem' 'tls-cert = /c.pem' \
        'tls-key = /k.pem' 'fsync = no' 'tls-name = redis.example' 'tls-insecure = no' >"$RLOCK_CONFIG"
    try run -n x -- true
    assert_success
    try latch set -n l --count 1
    assert_success
    try sem -n s --resize 2
    assert_success
}
