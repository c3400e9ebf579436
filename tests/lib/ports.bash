# ports.bash: ports of this machine's loopback interface that nobody uses: no other file's tests either until these end.
# shellcheck shell=bash

free_ports() { # N
    python3 "$TOOLS/machine.py" ports "$1" "$BATS_RUN_TMPDIR"
}
