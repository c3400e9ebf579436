#!/usr/bin/env python3
"""What systemd would be told: binds a datagram socket and appends each message to a file.

usage: notified.py SOCKET FILE      SOCKET: a path, or @NAME for an abstract socket
Each message is one line of FILE, its newlines written as spaces. Ends by SIGTERM.
"""
import socket
import sys

name, path = sys.argv[1:]
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind("\0" + name[1:] if name.startswith("@") else name)
with open(path, "a", buffering=1) as out:
    print("bound", file=out)
    while True:
        print(receiver.recv(65536).decode().replace("\n", " "), file=out)
