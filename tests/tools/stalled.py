#!/usr/bin/env python3
"""Runs a command whose standard error, or output, goes to a stream that takes ROOM bytes more and that
nobody reads.

usage: stalled.py [--stdout] [--timeout SECONDS] tty|pipe|socket|file ROOM CMD [ARG...]

tty is the command's controlling terminal; file is at its size limit (RLIMIT_FSIZE). The command's
process id is written to the file stalled.pid. Standard output: what the command wrote to the stream, as a
reader finds it when the command has ended. Exit status: the command's, as a shell gives it; 99 when it did
not end in time.
"""
import fcntl
import os
import pty
import resource
import signal
import socket
import subprocess
import sys
import termios
import time
import tty

LIMIT = 65536


def write_all_it_takes(fd):
    count = 0
    for size in (1024, 1):
        try:
            while True:
                count += os.write(fd, b"x" * size)
        except BlockingIOError:
            pass
    return count


def fill(fd, room, drain):
    """Writes until nothing more is taken, then takes ROOM bytes out. Returns how many are left."""
    os.set_blocking(fd, False)
    count = before = 0
    quiet = 0
    while quiet < 5:  # the kernel moves what a terminal has taken on to where it is read, when it likes
        before, count = count, count + write_all_it_takes(fd)
        quiet = quiet + 1 if count == before else 0
        time.sleep(0.01)
    os.set_blocking(fd, True)
    return count - len(drain(room) if room > 0 else b"")


def make(kind, room):
    """The stream's two ends, and how much filler there is. A file has one end."""
    if kind == "file":
        with open("stalled.log", "wb") as file:
            file.write(b"x" * (LIMIT - room))
        return None, os.open("stalled.log", os.O_RDWR | os.O_APPEND), LIMIT - room
    if kind == "tty":
        reader, writer = pty.openpty()
        tty.setraw(writer)
    elif kind == "pipe":
        reader, writer = os.pipe()
    else:
        pair = socket.socketpair()
        reader, writer = (end.detach() for end in pair)
    return reader, writer, fill(writer, room, lambda size: os.read(reader, size))


def read_all(reader):
    os.set_blocking(reader, False)
    found = b""
    while True:
        try:
            piece = os.read(reader, 65536)
        except (BlockingIOError, OSError):
            return found
        if not piece:
            return found
        found += piece


def prepare(kind, writer):
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if kind == "tty":
        fcntl.ioctl(writer, termios.TIOCSCTTY, 0)
    if kind == "file":
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main():
    args, limit, stream = sys.argv[1:], 30.0, "stderr"
    if args[0] == "--stdout":
        stream, args = "stdout", args[1:]
    if args[0] == "--timeout":
        limit, args = float(args[1]), args[2:]
    kind, room, command = args[0], int(args[1]), args[2:]
    reader, writer, filler = make(kind, room)
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, stream: writer}
    process = subprocess.Popen(command, start_new_session=kind == "tty",
                               preexec_fn=lambda: prepare(kind, writer), **streams)
    with open("stalled.pid", "w", encoding="ascii") as file:
        file.write(f"{process.pid}\n")
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        status = 99
    if reader is None:
        found = os.pread(writer, 2 * LIMIT, 0)
    else:
        found = read_all(reader)
    sys.stdout.buffer.write(found[filler:])
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
