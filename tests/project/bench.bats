#!/usr/bin/env bats
# bench.bats: tests/bench/run, in small: it measures what it says, and ends.

load ../lib/rlock
load ../lib/no_server

@test "each section of the bench has its figures" {
    local row
    RLOCK_NO_INTEROP=1 RLOCK_BIN=$RLOCK run --separate-stderr "$TESTS/bench/run" --quick scripts starts waiters
    assert_success
    while read -r row; do
        assert_line --regexp "^\| $row \|"
    done <<-'END'
	.run. \| [1-9][0-9.]* µs
	.fair. \| [1-9][0-9.]* µs
	.read. \| [1-9][0-9.]* µs
	.write. \| [1-9][0-9.]* µs
	.sem. \| [1-9][0-9.]* µs
	bare C \| [0-9.]+ ms \| \*\*1\.00\*\*
	rlock run \| [0-9.]+ ms \| \*\*[0-9.]+\*\*
	.run. \| 1 \| [0-9.]+ ms \| [0-9.]+ ms \| \*\*[0-9.]+\*\*
	.fair. \| 10 \| [0-9.]+ ms \| [0-9.]+ ms \| \*\*[0-9.]+\*\*
	END
    assert_line --regexp '^Each has [1-9][0-9]* KiB of memory of its own\.'
}
