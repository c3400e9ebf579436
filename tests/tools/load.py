#!/usr/bin/env python3
"""Twenty processes that want one lock, while rlocks and their sections are killed, and connections
and scripts are lost. What the sections (section.c) record is for check_history.py to judge.

usage: load.py KIND --rlock FILE --section FILE --socket PATH [--seed N] [--seconds S]
               [--lease MS] [--settle MS] [--proxy FIFO | --calm | --unlocked]

KIND        run, fair, rw, sem (PERMITS of them) or latch (COUNT, again and again)
--socket    the server's own; rlocks go to $RLOCK_SERVER
--proxy     where the proxy before the server (faultproxy.py) takes orders: it loses requests and
            replies until the faults end
--settle    how long after the last fault the last rlock may take to end; how long a latch may
--calm      no faults
--unlocked  the sections alone, without a lock: a history that must be found out

Writes history (of a latch history.1, history.2...), beats/ and rlock.err in the working directory,
and on standard output what happened. Exit status 1: an rlock ended with a status that nothing
explains, one did not end, or a kind of fault has never struck.

Every choice comes from the seed; only the race is never the same.
"""
import argparse
import collections
import itertools
import os
import random
import signal
import sys
import threading
import time

from resp import Server
from victims import Victims

NAME, WORKERS, DOWNS, PERMITS, COUNT = "x", 20, 6, 5, 10
LOSSES = {"run": 0.05, "fair": 0.08, "rw": 0.05, "sem": 0.03, "latch": 0.2}  # of all requests

QUEUES = {  # where an observer sees those who have a place that others must respect
    "fair": ("LRANGE", f"redisson_lock_queue:{{{NAME}}}", 0, -1),
    "rw": ("ZRANGE", f"rlock_writers:{{{NAME}}}", 0, -1),
}
# A waiter that is killed delays those behind it for up to 10 s, where it has such a place. There
# only a few are, at the very end.
LAST_DEATHS = 3

# 76: a machine too slow to renew. Those who wait for a limited time end with 75, or with 69.
EXPECTED = {0, 76, 75, 69, -signal.SIGKILL, 128 + signal.SIGKILL, -signal.SIGTERM,
            128 + signal.SIGTERM}


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def start(function, *args):
    thread = threading.Thread(target=function, args=args, daemon=True)
    thread.start()
    return thread


def die(failure):
    """Of a thread: nobody would notice."""
    sys.__excepthook__(failure.exc_type, failure.exc_value, failure.exc_traceback)
    sys.stderr.flush()
    os._exit(1)


class Load:
    def __init__(self, args, stderr):
        self.args, self.server = args, Server(args.socket)
        self.victims, self.bites = Victims(args.section, stderr), collections.Counter()
        self.log_name, self.tokens = "history", itertools.count(1)
        self.over = threading.Event()  # no faults any more, and nobody comes anew
        self.ended = threading.Event()

    def random(self, what):
        return random.Random(f"{self.args.seed} {what}")

    def log(self, line):
        with open(self.log_name, "a", encoding="utf-8") as file:
            file.write(line + "\n")  # one write(2): lines of different writers do not mix

    # --- one process -------------------------------------------------------------------------

    def section(self, stay_ms, note):
        return [self.args.section, "--log", self.log_name, "--beat-dir", "beats",
                "--ms", str(stay_ms), "--note", note]

    def unlocked(self, section, kind, rng):
        """As if it had queued for a lock, to be let in whenever it comes."""
        token = str(next(self.tokens))
        self.log(f"queued={now_ns()} owner=u{token}")
        time.sleep(rng.uniform(0, 0.02))
        return self.victims.run(section, {"RLOCK_OWNER": f"u{token}", "RLOCK_TOKEN": token,
                                          "RLOCK_KIND": kind})

    def enter(self, kind, rng, stay_ms):
        """One section under the lock, or under the same lock twice, or read within write."""
        options, wait = ["-n", NAME, *self.options(kind)], []
        note = f"arrival={now_ns()}"
        if kind == "sem":
            permits = rng.choice((1, 1, 1, 2, 3, PERMITS))
            options += ["--take", str(permits)]
            note += f" permits={permits}"
        if rng.random() < 0.15:
            wait = ["-w", f"{rng.randint(50, 500)}ms"]
        command = self.section(stay_ms, note)
        if self.args.unlocked:
            return self.unlocked(command, kind, rng)
        if kind != "sem" and rng.random() < 0.1:
            command = self.nested(kind, options, command, rng)
        return self.victims.run([self.args.rlock, kind, *options, *wait, "--", *command])

    def options(self, kind):
        """Of every rlock of this lock."""
        lease = ["-l", f"{self.args.lease}ms"]
        return [*lease, "--permits", str(PERMITS)] if kind == "sem" else lease

    def nested(self, kind, options, section, rng):
        inner = rng.choice(("read", "write")) if kind == "write" else kind
        if inner != kind:
            section[-1] = ""  # who came as a writer has not arrived as a reader
        command = [self.args.rlock, inner, *options, "--", *section]
        if inner != kind and rng.random() < 0.5:  # the write hold ends first: downgrade
            return ["sh", "-c", '"$@" & sleep 0.03', "sh", *command]
        return command

    # --- twenty ------------------------------------------------------------------------------

    def work(self):
        """Until the faults are over; then all must have ended when it has been calm for a while."""
        workers = [start(self.worker, number) for number in range(WORKERS)]
        self.over.wait()
        calm = time.monotonic()
        self.join(workers)
        print(f"the last ended {time.monotonic() - calm:.1f} s after the last fault")

    def worker(self, number):
        rng = self.random(number)
        for turn in itertools.count():
            if self.over.is_set():
                return
            kind = self.args.kind
            if kind == "rw":
                kind = "write" if rng.random() < 0.3 else "read"
            stay_ms = rng.randint(1, 8) if rng.random() < 0.9 else rng.randint(20, 80)
            if turn == 1 and number < 2 and not self.no_faults():  # one that needs renewals
                stay_ms = self.args.lease * 3 // 2
            self.enter(kind, rng, stay_ms)
            time.sleep(rng.uniform(0, 0.03))

    def join(self, threads):
        deadline = time.monotonic() + self.args.settle / 1000
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()))
            if thread.is_alive():
                sys.exit("\n".join(["load.py: these have not ended:", *self.victims.kill_all()]))

    def observe(self):
        """Notes each waiter after the answer that showed it in the queue."""
        seen = set()
        while not self.ended.wait(0.003):
            owners = self.server.call(*QUEUES[self.args.kind])
            seen_ns = now_ns()
            for owner in set(owners) - seen:
                self.log(f"queued={seen_ns} owner={owner}")
            seen.update(owners)

    # --- the latch, in rounds ----------------------------------------------------------------

    def latch_rounds(self):
        for number in itertools.count(1):
            if self.over.is_set():
                return
            self.log_name = f"history.{number}"
            self.latch_round(number)

    def latch_round(self, number):
        self.due = COUNT  # less what was counted down, or is being
        if not self.args.unlocked and self.victims.start(
                [self.args.rlock, "latch", "set", "-n", NAME, "--count", str(COUNT)]).wait() != 0:
            sys.exit("load.py: the latch can't be set")
        downs = [start(self.latch_down, f"{number} down {i}") for i in range(DOWNS)]
        waits = [start(self.latch_wait, f"{number} wait {i}") for i in range(WORKERS - DOWNS)]
        self.join(downs + waits)

    def latch_wait(self, what):
        rng = self.random(what)
        time.sleep(rng.uniform(0, 0.8))
        section = self.section(rng.randint(1, 60), "")
        if self.args.unlocked:
            return self.unlocked(section, "latch", rng)
        return self.victims.run([self.args.rlock, "latch", "wait", "-n", NAME, "--", *section])

    def latch_down(self, what):
        """Counts down again where one was killed: it may have counted, or not."""
        rng = self.random(what)
        while True:
            time.sleep(rng.uniform(0.2, 0.6))
            by = self.take_due(rng.choice((1, 1, 2)))
            if by == 0:
                return
            self.log(f"down={now_ns()} by={by}")
            command = [self.args.rlock, "latch", "down", "-n", NAME, "--by", str(by)]
            if not self.args.unlocked and self.victims.run(command) != 0:
                self.take_due(-by)

    def take_due(self, by):
        with self.victims.lock:
            by = min(by, self.due)
            self.due -= by
            return by

    # --- faults ------------------------------------------------------------------------------

    def no_faults(self):
        return self.args.calm or self.args.unlocked

    def faults(self):
        rng = self.random("faults")
        self.proxy(f"drop {LOSSES[self.args.kind]} {self.args.seed}")
        for fault in self.schedule(rng):
            time.sleep(rng.uniform(0.1, 0.3))
            self.bites[fault] += self.strike_soon(fault, rng)
        self.proxy("pass")
        self.over.set()

    def schedule(self, rng):
        """One fault of each kind, and again in another order, until it is time."""
        end = time.monotonic() + self.args.seconds
        faults = [*Victims.FAULTS, "CLIENT KILL TYPE normal", "CLIENT KILL TYPE pubsub",
                  "SCRIPT FLUSH"]
        self.bites.update({fault: 0 for fault in faults})
        if self.args.kind in QUEUES:
            faults.remove("kill waiter")
        while time.monotonic() < end:
            rng.shuffle(faults)
            yield from faults
        if self.args.kind in QUEUES:
            yield from LAST_DEATHS * ["kill waiter"]

    def strike_soon(self, fault, rng):
        """There may be nobody to be struck just now: a dead one holds it, or stands in the queue."""
        until = time.monotonic() + 4 * self.args.lease / 1000
        while not self.strike(fault, rng):
            if time.monotonic() > until:
                return False
            time.sleep(0.002)
        return True

    def strike(self, fault, rng):
        if fault in Victims.FAULTS:
            return self.victims.strike(fault, rng)
        return self.server.call(*fault.split()) not in (0, None)

    def proxy(self, order):
        if self.args.proxy:
            with open(self.args.proxy, "w", encoding="utf-8") as fifo:
                fifo.write(order + "\n")

    # -----------------------------------------------------------------------------------------

    def go(self):
        os.makedirs("beats", exist_ok=True)
        if self.no_faults():
            threading.Timer(self.args.seconds, self.over.set).start()
        else:
            start(self.faults)
        if self.args.kind in QUEUES and not self.args.unlocked:
            start(self.observe)
        work = self.latch_rounds if self.args.kind == "latch" else self.work
        work()
        self.ended.set()

    def verdict(self):
        print(f"statuses {dict(self.victims.statuses)}; struck {dict(self.bites)}")
        never = [fault for fault, times in self.bites.items() if times == 0]
        if wrong := set(self.victims.statuses) - EXPECTED:
            sys.exit(f"load.py: broken promise: nothing explains the statuses {wrong}")
        if never:
            sys.exit(f"load.py: never struck: {', '.join(never)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("run", "fair", "rw", "sem", "latch"))
    for option in ("--rlock", "--section", "--socket"):
        parser.add_argument(option, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--lease", type=int, default=1000)
    parser.add_argument("--settle", type=int, default=8000)
    parser.add_argument("--proxy")
    for option in ("--calm", "--unlocked"):
        parser.add_argument(option, action="store_true")
    threading.excepthook = die
    with open("rlock.err", "ab") as stderr:
        load = Load(parser.parse_args(), stderr)
        load.go()
        load.verdict()


if __name__ == "__main__":
    main()
