#!/usr/bin/env bats
# matrix.bats: what the matrix (tests/matrix) says that it tests with is what the tests run on.

load ../../lib/rlock

@test "the server is the one that RLOCK_TEST_SERVER names, or Redis" {
    case ${RLOCK_TEST_SERVER:-redis-server} in
    *valkey-server) assert_equal "$(redis INFO server | sed -n 's/^server_name:\([a-z]*\).*/\1/p')" valkey ;;
    *) ! redis INFO server | grep -q '^server_name:valkey' ;;
    esac
}

@test "a server of that name that is not there is missed, not replaced" {
    RLOCK_TEST_SERVER=no-such-server run bats "$BATS_TEST_DIRNAME/matrix.bats" -f 'the server is'
    assert_failure
}

@test "local: runs it too" {
    [[ -n ${RLOCK_TEST_SERVER-} ]] || skip "not for the server of the packages"
    try run -s "local:$PWD/dir" -n x -- sh -c 'redis-cli -s "$0"/*.sock INFO server; kill "$(cat "$0"/*.pid)"' "$PWD/dir"
    assert_output --partial server_name:valkey
}

@test "what was not run is said loudly: with RLOCK_NO_MATRIX=1 a success, without root and a tree a failure" {
    local readable
    RLOCK_NO_MATRIX=1 run --separate-stderr "$PROJECT/tests/matrix"
    assert_success
    assert_stderr_has 'NOT RUN'
    ((EUID == 0)) || skip "needs root to be somebody else"
    readable=$(mktemp -d)
    mkdir -p "$readable/tests/lib"
    cp "$PROJECT/tests/matrix" "$readable/tests"
    cp "$PROJECT/tests/lib/notes.bash" "$readable/tests/lib"
    chmod -R a+rX "$readable"
    run --separate-stderr setpriv --reuid 65534 --clear-groups bash "$readable/tests/matrix"
    rm -r "$readable"
    assert_failure
    assert_stderr_has 'NOT RUN'
}
