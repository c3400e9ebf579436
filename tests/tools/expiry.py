#!/usr/bin/env python3
"""When a key will expire on a server, in ns on CLOCK_MONOTONIC: never later than it does.

usage: expiry.py SOCKET KEY [SOCKET...]     one line for each server

The clock is read before the question is sent, so the sum lies before the true expiry by at most
the time that the question takes (some 0.1 ms). A key that is not there: 0. One that never expires:
the end of time.
"""
import sys
import time

from resp import Connection


def expiry(path, key):
    server, asked = Connection(path), time.monotonic_ns()
    ttl_ms = server("PTTL", key)
    return {-2: 0, -1: 2**62}.get(ttl_ms, asked + ttl_ms * 1_000_000)


first, name, *others = sys.argv[1:]
for each in [first, *others]:
    print(expiry(each, name))
