#!/usr/bin/env bats
# matrix.bats: what the matrix (tests/matrix) says that it tests with is what the tests run on.

load ../../lib/rlock

@test "the server is the one that RLOCK_TEST_SERVER names, or Redis" {
    case ${RLOCK_TEST_SERVER:-redis-server} in
    *valkey-server) assert_equal "$(redis INFO server | sed -n 's/^server_name:\([a-z]*\).*/\1/p')" valkey ;;
    *) ! redis INFO server | grep -q '^server_name:valkey' ;;
    esac
}

@test "local: runs it too" {
    [[ -n ${RLOCK_TEST_SERVER-} ]] || skip "not for the server of the packages"
    try run -s "local:$PWD/dir" -n x -- sh -c 'redis-cli -s "$0"/*.sock INFO server; kill "$(cat "$0"/*.pid)"' "$PWD/dir"
    assert_output --partial server_name:valkey
}
