# races.bash: a client that is used while keepers renew its locks, watched by valgrind. It takes each socket for
# itself; ThreadSanitizer takes all for one, and any two threads that use one each for ordered.
# shellcheck shell=bash

# assert_no_races URL SERVER...: connections to the servers are cut meanwhile, so that ways are found anew.
assert_no_races() {
    local url=$1 server
    shift
    ! is_sanitized || skip 'not for a build with a sanitizer'
    command -v valgrind >/dev/null || skip 'not for a machine without valgrind: tests/run tsan brings it'
    valgrind --tool=drd --quiet --error-exitcode=99 "${RLOCK%/cmd/rlock}/tests/keepers" "$url" >races 2>&1 3>&- &
    pid=$!
    while ! ended "$pid"; do
        for server; do
            redis_on "$server" CLIENT KILL TYPE normal SKIPME yes >/dev/null
        done
        sleep 0.3
    done
    reap "$pid"
    assert_equal "$status: $(cat races)" '0: '
}
