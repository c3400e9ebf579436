# ports.bash: ports of this machine's loopback interface that nobody uses.
# shellcheck shell=bash

free_ports() { # N
    python3 "$TOOLS/machine.py" ports "$1"
}
