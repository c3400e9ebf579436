#!/usr/bin/env python3
"""What the tests do to each server of a quorum (tests/lib/quorum.bash), in one process.

usage: members.py DIR reset NAME...   undoes what a test did to it, and empties it; prints those that
                                      do not answer
       members.py DIR quiet NAME...   waits until nobody listens there any more

A server has its socket at DIR/NAME/sock.
"""
import os
import sys
import time

from resp import Server

LIMIT_S = 3

UNDO = ("ACL SETUSER default +@all", "CLIENT UNPAUSE", "REPLICAOF NO ONE", "CONFIG SET maxmemory 0",
        "FLUSHALL", "CONFIG RESETSTAT")


def reset(path):
    server = Server(path)
    for command in UNDO:
        server.call(*command.split())


def quiet(path):
    server, end = Server(path), time.monotonic() + LIMIT_S
    while channels := server.call("PUBSUB", "CHANNELS"):
        if time.monotonic() > end:
            sys.exit(f"members.py: somebody listens at {path}: {channels}")
        time.sleep(0.02)


def main():
    directory, verb, *names = sys.argv[1:]
    for name in names:
        try:
            {"reset": reset, "quiet": quiet}[verb](os.path.join(directory, name, "sock"))
        except OSError:
            if verb == "reset":
                print(name)


if __name__ == "__main__":
    main()
