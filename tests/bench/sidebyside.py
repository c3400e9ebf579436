"""Runs commands in turn, again and again, so that whatever else the machine does falls on all of them alike; prints a
line for each: the median wall time of a run, and the CPU time of all its processes, in us.

usage: sidebyside.py ROUNDS COMMAND...     each a word, quoted as for a shell
"""
import contextlib
import ctypes
import os
import resource
import shlex
import statistics
import sys
import time

WARM_UP = 20
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


def children_us():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1e6


def run(words):
    cpu_us, begun_ns = children_us(), time.monotonic_ns()
    _, status = os.waitpid(os.posix_spawnp(words[0], words, os.environ), 0)
    wall_us = (time.monotonic_ns() - begun_ns) / 1e3
    if status != 0:
        sys.exit(f"sidebyside: {words} failed")
    with contextlib.suppress(ChildProcessError):
        while True:  # what it has left behind falls to us
            os.wait()
    return wall_us, children_us() - cpu_us


def main():
    rounds, commands = int(sys.argv[1]), [shlex.split(command) for command in sys.argv[2:]]
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    times = [[run(words) for words in commands] for _ in range(WARM_UP + rounds)][WARM_UP:]
    for own in zip(*times):
        print(*(f"{statistics.median(each):.1f}" for each in zip(*own)))


if __name__ == "__main__":
    main()
