# no_server.bash: after rlock.bash, for a file of tests that needs no server, or has servers of its own.
# shellcheck shell=bash

setup_file() { :; }
teardown_file() { :; }

setup() {
    clean_environment
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() { :; }
