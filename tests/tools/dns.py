#!/usr/bin/env python3
"""A DNS server that knows one name: answers on 127.0.0.1:53 until it is ended.

usage: dns.py NAME ADDRESS

Creates the file dns.ready in the current directory when it answers, and writes each question's name to dns.log there.
"""
import pathlib
import socket
import struct
import sys

A, IN, NO_SUCH_NAME = 1, 1, 3


def question(packet):
    """The name, its type, and the question's bytes."""
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode())
        at += 1 + packet[at]
    kind, = struct.unpack_from("!H", packet, at + 1)
    return ".".join(labels), kind, packet[12:at + 5]


def main(known, address):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
    pathlib.Path("dns.ready").touch()
    with open("dns.log", "w", encoding="ascii", buffering=1) as log:
        while True:
            packet, client = server.recvfrom(512)
            name, kind, asked = question(packet)
            print(name, file=log)
            answer = b""
            if name == known and kind == A:
                answer = struct.pack("!HHHIH", 0xC00C, A, IN, 60, 4) + socket.inet_aton(address)
            flags = 0x8180 | (0 if name == known else NO_SUCH_NAME)
            server.sendto(packet[:2] + struct.pack("!5H", flags, 1, bool(answer), 0, 0) + asked + answer, client)


main(*sys.argv[1:])
