#!/usr/bin/env python3
"""Sends a process a signal, and tells how long it took to end, and what of that was the machine's.

usage: ended.py SIGNAL PID [OTHER...]

When PID has ended, a zombie until its parent asks, a line on standard output: the ms since the signal, and for
how many ms it and the OTHERS, whose answers it may have waited for, ran or waited for a processor meanwhile. After 30 s
it is killed."""
import os
import select
import signal
import sys
import time


def busy_ms(pid):
    """Of its first thread, since it was begun. A zombie's still stands there."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        ran_ns, waited_ns, _ = file.read().split()
    return (int(ran_ns) + int(waited_ns)) // 1_000_000


def main():
    number, pids = getattr(signal, f"SIG{sys.argv[1]}"), [int(pid) for pid in sys.argv[2:]]
    end = os.pidfd_open(pids[0])
    before = sum(map(busy_ms, pids))
    begun = time.monotonic()
    signal.pidfd_send_signal(end, number)
    if not select.select([end], [], [], 30)[0]:
        signal.pidfd_send_signal(end, signal.SIGKILL)
    spent = int((time.monotonic() - begun) * 1000)
    print(spent, sum(map(busy_ms, pids)) - before)


if __name__ == "__main__":
    main()
