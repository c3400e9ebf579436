# doctor.bash: what rlock doctor says. Needs rlock.bash.
# shellcheck shell=bash

# A server as it should be: what a test then makes worse is the only finding.
well() { # SERVER...
    local server
    for server; do
        redis_on "$server" CONFIG SET appendonly yes
        redis_on "$server" SLOWLOG RESET
    done >/dev/null
}

assert_healthy() { # ARG...
    try doctor "$@"
    assert_equal "$status $(grep '^finding' <<<"$output") $stderr" "0  "
    assert_line --regexp '^ok +lock cycle '
}

# assert_finding CHECK TEXT [ARG...]: that is what it finds, once or for several servers, and nothing
# else.
assert_finding() {
    local others
    assert_findings "$1" "$2" -- "${@:3}"
    assert_line --regexp "^finding +$1 +.*; .+"
    others=$(grep '^finding' <<<"$output" | grep -vE "^finding +$1 " || true)
    assert_equal "$others" ""
    assert_equal "$stderr" ""
}

# assert_says LEVEL CHECK TEXT
assert_says() {
    assert_line --regexp "^$1 +$2 +.*$3"
}

# assert_findings CHECK TEXT [CHECK TEXT]... [-- ARG...]: it finds that, whatever else there is.
assert_findings() {
    local found=()
    while (($#)) && [[ $1 != -- ]]; do
        found+=("$1" "$2")
        shift 2
    done
    try doctor "${@:2}"
    assert_equal "$status" 1
    while ((${#found[@]} > 0)); do
        assert_says finding "${found[@]:0:2}"
        found=("${found[@]:2}")
    done
}
