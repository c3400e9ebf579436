# ports.bash: ports of this machine's loopback interface that nobody uses.
# shellcheck shell=bash

# free_ports N: as the kernel gives them, on one line. Its connections take theirs from the other
# half (of even numbers), so that these stay free for servers that go and come back.
free_ports() {
    python3 - "$1" <<-'END'
	import socket, sys
	sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
	for each in sockets:
	    each.bind(("127.0.0.1", 0))
	print(*(each.getsockname()[1] for each in sockets))
	END
}
