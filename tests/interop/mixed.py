#!/usr/bin/env python3
"""Twenty rlocks (load.py) and ten threads in two JVMs (java/) that want one lock, while some of them are
killed, on either side. What they record is for check_history.py to judge.

usage: mixed.py KIND --rlock FILE --section FILE --socket PATH --java COMMAND [--seed N] [--seconds S]
                [--lease MS] [--settle MS] [--red | --plain]

KIND      run (RLock for some, RFencedLock for others), fair, rw, sem (RPermitExpirableSemaphore) or latch
--java    a JVM: see Interop.java; it is started twice, and again when it was killed
--red     run on several servers, of which --socket is one: RedLock
--plain   sem of permits without a lease: RSemaphore. Nobody is killed who would take a permit along

Writes what load.py does, but a latch's history is that of the directories round-1, round-2...
"""
import argparse
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import load  # noqa: E402
from victims import Victims  # noqa: E402

SERVICES, THREADS = 2, 5
KINDS = {"run": ("lock", "fenced"), "fair": ("fair",), "rw": ("rw",), "sem": ("permits",),
         "red": ("red",), "plain": ("sem",), "latch": ()}  # as Rounds.java calls them


class Service:
    """A JVM, and the next one in its place when it was killed."""

    def __init__(self, command, stderr):
        self.command, self.stderr, self.orders = command, stderr, 0
        self.lock = threading.Lock()
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.stderr, text=True)

    def wait_ready(self):
        ready, _, self.uuid = self.process.stdout.readline().strip().partition(" ")
        if ready != "ready":
            sys.exit("mixed.py: a JVM has not become ready")

    def kill(self):
        """Returns the UUID of its threads, who are dead."""
        with self.lock:
            dead = self.uuid
            self.process.kill()
            self.process.wait()
            self.start()
        self.wait_ready()
        return dead

    def ask(self, directory, order):
        """A thread's answer; None when it was killed meanwhile."""
        with self.lock:
            process = self.process
            self.orders += 1
            who = f"{process.pid}-{self.orders}"
            process.stdin.write(f"{os.path.abspath(directory)} {who} {order}\n")
            process.stdin.flush()
        path = os.path.join(directory, f"answer-{who}")
        while not os.path.exists(path):
            if process.poll() is not None:
                return None
            time.sleep(0.01)
        with open(path, encoding="utf-8") as file:
            answer = file.read().strip()
        if answer.startswith("error"):
            raise RuntimeError(f"{order}: {answer}")
        return answer


class Mixed(load.Load):
    def __init__(self, args, stderr):
        super().__init__(args, stderr)
        self.kinds = KINDS["red" if args.red else "plain" if args.plain else args.kind]
        self.services = [Service(args.java.split(), stderr) for _ in range(SERVICES)]
        for service in self.services:
            service.wait_ready()

    # --- locks -------------------------------------------------------------------------------

    def work(self):
        threads = [load.start(self.thread, service, number)
                   for service in self.services for number in range(THREADS)]
        super().work()
        self.join(threads)

    def thread(self, service, number):
        kind = self.kinds[number % len(self.kinds)]
        while not self.over.is_set():
            service.ask(".", f"rounds {kind} {load.NAME} seed={self.args.seed + number}"
                             f" permits={load.PERMITS} lease={self.lease()}")

    def options(self, kind):
        return ["--plain", "--permits", str(load.PERMITS)] if self.args.plain else super().options(kind)

    def lease(self):
        """Of a permit, which nobody renews."""
        return 2 * self.args.lease if self.args.kind == "sem" else -1

    def log(self, line):
        """Redisson's waiters are not sure of their places: Redisson drops those who were silent for long."""
        if "@" in line or not line.startswith("queued="):
            super().log(line)

    # --- the latch ---------------------------------------------------------------------------

    def latch_round(self, number):
        self.log_name = f"round-{number}/history"
        os.mkdir(f"round-{number}")
        super().latch_round(number)

    def service(self, what):
        """One of them, or None: it is an rlock's turn."""
        return self.random(f"{what} whose").choice([*self.services, None, None])

    def latch_wait(self, what):
        service = self.service(what)
        if not service:
            return super().latch_wait(what)
        time.sleep(self.random(what).uniform(0, 0.8))
        return service.ask(os.path.dirname(self.log_name), f"take latch {load.NAME}")

    def latch_down(self, what):
        service = self.service(what)
        if not service:
            return super().latch_down(what)
        while self.take_due(1):
            self.log(f"down={load.now_ns()} by=1")
            if not service.ask(os.path.dirname(self.log_name), f"down latch {load.NAME}"):
                self.take_due(-1)
            time.sleep(0.3)

    # --- who is killed -----------------------------------------------------------------------

    def schedule(self, rng):
        """One service is killed in the middle, one at the end."""
        faults, service, last = list(Victims.FAULTS), ["kill service"], []
        if self.args.kind in load.QUEUES:
            faults.remove("kill waiter")
            last = ["kill waiter"]
        if self.args.plain:
            faults, service = ["kill section", "end waiter"], []
        self.bites.update({fault: 0 for fault in faults + service + last})
        end = time.monotonic() + self.args.seconds
        for half in (end - self.args.seconds / 2, end):
            while time.monotonic() < half:
                rng.shuffle(faults)
                yield from faults
            yield from service
        yield from last

    def strike(self, fault, rng):
        if fault == "kill service":
            self.age(rng.choice(self.services).kill())
            return True
        if not super().strike(fault, rng):
            return False
        if fault == "kill waiter" and self.args.kind == "fair":
            self.age(f":{self.victims.last_struck}@")
        return True

    def age(self, dead):
        """Five minutes later: Redisson's in a queue do not wait for these any more, an rlock there or not."""
        self.server.call("EVAL", """for _, owner in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
            if string.find(owner, ARGV[1], 1, true) then redis.call('ZADD', KEYS[2], 'XX', 1, owner) end
        end""", 2, f"redisson_lock_queue:{{{load.NAME}}}", f"redisson_lock_timeout:{{{load.NAME}}}", dead)

    def faults(self):
        super().faults()
        with open("over", "w", encoding="utf-8"):
            pass

    def stop(self):
        for service in self.services:
            service.process.kill()
            service.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("run", "fair", "rw", "sem", "latch"))
    for option in ("--rlock", "--section", "--socket", "--java"):
        parser.add_argument(option, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--lease", type=int, default=1000)
    parser.add_argument("--settle", type=int, default=12000)
    for option in ("--red", "--plain"):
        parser.add_argument(option, action="store_true")
    parser.set_defaults(proxy=None, calm=False, unlocked=False)
    threading.excepthook = load.die
    with open("rlock.err", "ab") as stderr:
        mixed = Mixed(parser.parse_args(), stderr)
        try:
            mixed.go()
        finally:
            mixed.stop()
        mixed.verdict()


if __name__ == "__main__":
    main()
