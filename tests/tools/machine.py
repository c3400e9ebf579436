#!/usr/bin/env python3
"""What the tests ask of this machine.

usage: machine.py ports N OWNER      ports of the loopback interface that nobody uses, on one line; they are OWNER's,
                                     which is a folder, while that is there
"""
import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

TOOLS = pathlib.Path(__file__).resolve().parent


def wait_for(what, condition, limit_s=30):
    until, pause_s = time.monotonic() + limit_s, 0.001
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"not within {limit_s} s: {what}")
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.2)


def free_ports(count, owner=f"/proc/{os.getpid()}"):
    """As the kernel gives them. Its connections take theirs from the other half (of even numbers), and no other test
    is given them while their owner is there: they stay free for servers that go and come back."""
    ports = []
    with contextlib.ExitStack() as stack:
        while len(ports) < count:
            each = stack.enter_context(socket.socket())
            each.bind(("127.0.0.1", 0))
            port = each.getsockname()[1]
            if keep(port, owner):
                ports.append(port)
    return ports


def keep(port, owner):
    """A link to the owner. Nobody else is asking for this port: our socket has it."""
    kept = pathlib.Path(tempfile.gettempdir(), f"rlock-test-ports-{os.getuid()}")
    kept.mkdir(exist_ok=True)
    link = kept / str(port)
    if link.exists():
        return False
    link.unlink(missing_ok=True)
    link.symlink_to(owner)
    return True


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
    print(*free_ports(int(sys.argv[2]), sys.argv[3]))
