#!/usr/bin/env python3
"""Runs a command whose standard error, or output, goes to a stream that takes ROOM bytes more and that nobody reads.

usage: stalled.py [--stdout] [--timeout SECONDS] tty|pipe|socket|file ROOM CMD [ARG...]

tty is the command's controlling terminal; file is at its size limit (RLIMIT_FSIZE). The command's process id is written
to the file stalled.pid. Standard output: what the command wrote to the stream, as a reader finds it when the command
has ended. Exit status: the command's, as a shell gives it; 99 when it did not end in time.
"""
import contextlib
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
        with contextlib.suppress(BlockingIOError):
            while True:
                count += os.write(fd, b"x" * size)
    return count


def fill(writer, reader, room):
    """Writes until nothing more is taken, then takes ROOM bytes out. Returns how many are left."""
    os.set_blocking(writer, False)
    count = quiet = 0
    while quiet < 5:  # the kernel moves what a terminal has taken on to where it is read, when it likes
        more = write_all_it_takes(writer)
        count, quiet = count + more, 0 if more else quiet + 1
        time.sleep(0.01)
    os.set_blocking(writer, True)
    return count - len(os.read(reader, room) if room > 0 else b"")


def make(kind, room):
    """The stream's two ends, and how much filler there is."""
    if kind == "file":
        writer = os.open("stalled.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        return os.open("stalled.log", os.O_RDONLY), writer, os.write(writer, b"x" * (LIMIT - room))
    if kind == "tty":
        reader, writer = pty.openpty()
        tty.setraw(writer)
    elif kind == "pipe":
        reader, writer = os.pipe()
    else:
        reader, writer = (end.detach() for end in socket.socketpair())
    return reader, writer, fill(writer, reader, room)


def read_all(reader):
    os.set_blocking(reader, False)
    found = b""
    with contextlib.suppress(OSError):  # there is no more, or nobody who writes
        while piece := os.read(reader, 65536):
            found += piece
    return found


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
    sys.stdout.buffer.write(read_all(reader)[filler:])
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
