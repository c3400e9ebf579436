#!/usr/bin/env python3
"""Ten processes that want one lock on five servers, while servers are stopped, killed and emptied,
and rlocks and their sections are killed. What the sections record is for check_history.py to judge.

usage: quorum_load.py run|rw --rlock FILE --section FILE [--seed N] [--seconds S] [--lease MS]
                      [--settle MS]

Starts five servers of its own in the working directory and stops them at the end. What befalls
them is what a quorum promises to bear:
  pause    one or two hang, for up to two leases, and go on
  silence  three hang for longer than a lease: who holds the lock must be gone by then
  kill     one or two are killed and come back with their data
  empty    one or two are killed, stay away for a lease (the rule of the delayed restart) and come
           back without data. That is when all know the last token: of servers that hung and
           servers that lost it nobody could tell which is the majority that knows.

Writes and prints what load.py does. Exit status 1: as there, or something was left at rest.
"""
import argparse
import os
import shutil
import signal
import sys
import threading
import time

import load
from redis_server import RedisServer
from victims import Victims

MEMBERS, FAULTS = 5, ("pause", "silence", "kill", "empty")
TOKEN = f"redisson_lock_token:{{{load.NAME}}}"
REST_S = 16  # a dead waiter's trace goes by itself


class Member(RedisServer):
    def __init__(self, number):
        # Without fsync: what was written when an answer went out survives SIGKILL.
        super().__init__(f"m{number}", *self.keeping("no"))
        self.url = f"unix://{self.socket}"

    def empty(self):
        shutil.rmtree(os.path.join(self.folder, "appendonlydir"))


class QuorumLoad(load.Load):
    def __init__(self, args, stderr):
        self.members = [Member(number) for number in range(1, MEMBERS + 1)]
        os.environ["RLOCK_SERVER"] = " ".join(member.url for member in self.members)
        args.socket = self.members[0].socket
        super().__init__(args, stderr)

    # --- faults ------------------------------------------------------------------------------

    def faults(self):
        """Those of the servers, and beside them those of the processes and connections."""
        servers = load.start(self.server_faults, self.random("servers"))
        rng = self.random("faults")
        for fault in self.schedule(rng):
            time.sleep(rng.uniform(0.1, 0.4))
            self.bites[fault] += self.strike_soon(fault, rng)
        servers.join()
        self.over.set()

    def schedule(self, rng):
        end = time.monotonic() + self.args.seconds
        faults = [*Victims.FAULTS, "CLIENT KILL TYPE normal", "CLIENT KILL TYPE pubsub", "SCRIPT FLUSH"]
        if self.args.kind == "rw":  # a dead writer keeps readers waiting: once is enough
            faults.remove("kill waiter")
        self.bites.update({fault: 0 for fault in faults})
        while time.monotonic() < end:
            rng.shuffle(faults)
            yield from faults

    def strike(self, fault, rng):
        if fault in Victims.FAULTS:
            return self.victims.strike(fault, rng)
        member = rng.choice(self.members)
        try:
            return member.call(*fault.split()) not in (0, None)
        except OSError:  # it is down just now
            return False

    def server_faults(self, rng):
        end = time.monotonic() + self.args.seconds
        faults = list(FAULTS)
        self.bites.update({fault: 0 for fault in faults})
        while time.monotonic() < end:
            rng.shuffle(faults)
            for fault in faults:
                time.sleep(rng.uniform(0.1, 0.5))
                self.bites[fault] += getattr(self, fault)(rng, self.args.lease / 1000)

    def some(self, rng, count=None):
        return rng.sample(self.members, count or rng.choice((1, 2, 2)))

    def pause(self, rng, lease_s, count=None, longer=(0.3, 2)):
        struck = self.some(rng, count)
        for member in struck:
            member.signal(signal.SIGSTOP)
        time.sleep(lease_s * rng.uniform(*longer))
        for member in struck:
            member.signal(signal.SIGCONT)
        return True

    def silence(self, rng, lease_s):
        return self.pause(rng, lease_s, 3, (1.2, 1.6))

    def kill(self, rng, lease_s):
        struck = self.some(rng)
        for member in struck:
            member.stop()
        time.sleep(lease_s * rng.uniform(0, 1))
        for member in struck:
            member.start()
        return True

    def empty(self, rng, lease_s):
        self.await_tokens()
        struck = self.some(rng)
        for member in struck:
            member.stop()
            member.empty()
        time.sleep(lease_s * 1.1)
        for member in struck:
            member.start()
        return True

    def await_tokens(self):
        """Until all know one that was known somewhere when this began."""
        largest = max(self.tokens_now())
        end = time.monotonic() + 5 * self.args.lease / 1000
        while min(self.tokens_now()) < largest:
            if time.monotonic() > end:
                raise TimeoutError(f"tokens {self.tokens_now()}: some servers do not learn")
            time.sleep(0.01)

    def tokens_now(self):
        return [int(member.call("GET", TOKEN) or 0) for member in self.members]

    # --- at rest -----------------------------------------------------------------------------

    def rest(self):
        end = time.monotonic() + REST_S
        while left := self.left():
            if time.monotonic() > end:
                sys.exit(f"quorum_load.py: left at rest: {left}")
            time.sleep(0.05)

    def left(self):
        return [what for member in self.members
                for what in (*member.call("KEYS", "*"), *member.call("PUBSUB", "CHANNELS"))
                if what != TOKEN and not what.startswith("rlock_tombstone:")]

    def die(self, failure):
        """Of a thread: the servers have no mark by which a test would find them."""
        self.stop()
        load.die(failure)

    def stop(self):
        for member in self.members:
            member.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("run", "rw"))
    for option in ("--rlock", "--section"):
        parser.add_argument(option, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--lease", type=int, default=1000)
    parser.add_argument("--settle", type=int, default=8000)
    parser.set_defaults(proxy=None, calm=False, unlocked=False)
    load.WORKERS = 10
    load.QUEUES = {}  # nobody looks into the line
    with open("rlock.err", "ab") as stderr:
        quorum = QuorumLoad(parser.parse_args(), stderr)
        threading.excepthook = quorum.die
        try:
            quorum.go()
            quorum.rest()
            quorum.verdict()
        finally:
            quorum.stop()


if __name__ == "__main__":
    main()
