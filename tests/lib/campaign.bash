# campaign.bash: rounds of tests/campaign, in small. It has servers of its own.
# shellcheck shell=bash

source "$TESTS/lib/no_server.bash"

export GOPATH=${GOPATH:-$HOME/go} GOCACHE=${GOCACHE:-$HOME/.cache/go-build} # what is there is not built again

# campaign ARG...: tests/campaign/run with these. What it leaves is in rounds.
campaign() {
    mkdir -p rounds
    TMPDIR=$BATS_TEST_TMPDIR/rounds RLOCK_BIN=$RLOCK run "$TESTS/campaign/run" "$@"
}
