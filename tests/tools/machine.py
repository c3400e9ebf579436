#!/usr/bin/env python3
"""What the tests ask of this machine.

usage: machine.py ports N      ports of the loopback interface that nobody uses, on one line
"""
import contextlib
import pathlib
import socket
import subprocess
import sys
import time

TOOLS = pathlib.Path(__file__).resolve().parent


def wait_for(what, condition, limit_s=30):
    until, pause_s = time.monotonic() + limit_s, 0.001
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"not within {limit_s} s: {what}")
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.2)


def free_ports(count):
    """As the kernel gives them. Its connections take theirs from the other half (of even numbers), so that
    these stay free for servers that go and come back."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def descendants(pid):
    """Each thread has children of its own."""
    try:
        children = [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                    for child in (task / "children").read_text(encoding="ascii").split()]
    except OSError:
        return []
    return [each for child in children for each in (child, *descendants(child))]


def library(name, folder):
    """NAME.c of this directory as a library to be loaded before libc."""
    made = f"{folder}/{name}.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", made, TOOLS / f"{name}.c"], check=True)
    return made


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[2])))
