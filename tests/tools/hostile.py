#!/usr/bin/env python3
"""Runs a program against a server that is none, and tells what that cost.

usage: hostile.py ATTACK COMMAND...

COMMAND: with {} in the place of the server's port on 127.0.0.1. Its standard error goes where ours goes; when it has
ended, one line on standard output: its status, how many ms it took, the most memory that it had in KiB, how many
requests came, and for how many ms it and we ran or waited for a processor. It is killed after 60 s.

ATTACK:
  raw TEXT     each request is answered by TEXT, in which \\r \\n \\xNN stand for bytes
  endless TEXT TEXT first, then its last 16 bytes again and again
  trickle TEXT the bytes of TEXT, and then of its end again and again, one every 20 ms
  mute         nothing is ever said
  full         connections are not even taken: whoever asks for one waits
  news         a script's answer is "held by others", each subscription is confirmed, and then
               there is no end to messages on that channel
  logged-in TEXT  +OK to AUTH, TEXT to all else
  turns TEXT   the first request is the grant of a lock, all later ones are as in endless
"""
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time

from ended import busy_ms

GRANTED = b"*3\r\n:1\r\n:17\r\n:30000\r\n"
BUSY = b"*10\r\n:0\r\n:9000000\r\n:1\r\n+u:1@h\r\n+h\r\n:1\r\n+u\r\n+c\r\n:5\r\n:0\r\n"
requests = 0


def endless(connection, text):
    connection.sendall(text)
    piece = text[-16:] * 16384
    while True:
        connection.sendall(piece)


def trickle(connection, text):
    while True:
        for byte in text:
            connection.sendall(bytes([byte]))
            time.sleep(0.02)
        text = text[-16:]


def news(connection, data):
    if b"SUBSCRIBE" not in data:
        connection.sendall(BUSY)
        return
    channels = re.findall(rb"SUBSCRIBE\r\n\$\d+\r\n([^\r]*)\r\n", data)
    for channel in channels:
        connection.sendall(b"*3\r\n+subscribe\r\n$%d\r\n%s\r\n:1\r\n" % (len(channel), channel))
    piece = b"*3\r\n+message\r\n$%d\r\n%s\r\n+odd\r\n" % (len(channels[0]) + 1, channels[0] + b"x")
    while True:
        connection.sendall(piece * 1000)


def serve(connection, attack, text):
    global requests
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with contextlib.suppress(OSError):
        while data := connection.recv(1 << 16):  # one request, or several at once
            requests += 1
            if attack == "endless":
                endless(connection, text)
            elif attack == "trickle":
                trickle(connection, text)
            elif attack == "news":
                news(connection, data)
            elif attack == "turns":
                connection.sendall(GRANTED) if requests == 1 else endless(connection, text)
            elif attack == "logged-in" and b"AUTH" in data:
                connection.sendall(b"+OK\r\n")
            elif attack != "mute":
                connection.sendall(text)


def listen(listener, attack, text):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, attack, text), daemon=True).start()


def fill(listener):
    """Connections that nobody takes, until the kernel drops what asks for more."""
    pending = []
    for _ in range(64):
        connection = socket.socket()
        connection.settimeout(0.1)
        pending.append(connection)
        try:
            connection.connect(listener.getsockname())
        except OSError:
            return pending
    sys.exit("the listener's backlog has no end")


def main():
    attack, *command = sys.argv[1:]
    text = "" if attack in ("mute", "full", "news") else command.pop(0)
    text = text.encode().decode("unicode_escape").encode("latin-1")
    listener = socket.create_server(("127.0.0.1", 0), backlog=0 if attack == "full" else 64)
    kept = []  # connections live as long as it does
    if attack == "full":
        kept.extend(fill(listener))
    else:
        threading.Thread(target=listen, args=(listener, attack, text), daemon=True).start()
    port = str(listener.getsockname()[1])
    begun, ours = time.monotonic(), busy_ms("self")
    child = subprocess.Popen([word.replace("{}", port) for word in command])
    killer = threading.Timer(60, child.kill)
    killer.start()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    took = int((time.monotonic() - begun) * 1000)
    busy = busy_ms("self") - ours + busy_ms(child.pid)
    _, status, usage = os.wait4(child.pid, 0)
    killer.cancel()
    code = os.waitstatus_to_exitcode(status)
    print(code if code >= 0 else 128 - code, took, usage.ru_maxrss, requests, busy, flush=True)
    os._exit(0)


main()
