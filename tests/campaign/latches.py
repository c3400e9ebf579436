"""Latch after latch: a worker sets it, some count it down, the others wait for it, and then the next."""
import itertools
import random
import time

from check_history import History, Rule
from crew import NAME, Crew

PREFIX = f"{{{NAME}}}"  # of their names: in a cluster one slot has all
COUNT = (1, 8)
EXISTS = 1  # what setting it says
REPLACED = ("sentinel", "cluster")  # where masters are


class LatchCrew(Crew):
    def __init__(self, *args):
        super().__init__(*args)
        self.counts, self.due, self.latch, self.left = {}, 0, None, set()

    def work(self, number):
        rng = random.Random(f"{self.combo.seed} worker {number}")
        for turn in itertools.count(1):
            if number == 0:
                self.set_up(rng, turn)
            self.gather()
            if self.latch is None or self.given_up.is_set():
                return
            time.sleep(rng.uniform(0, 0.1))
            if number % 2 == 0:
                self.count_down(rng)
            else:
                self.wait(rng)
            self.gather()

    def call(self, verb, *options, limit=None, command=(), exit=0):
        words = [self.rlock, "latch", verb, "-n", self.latch, *options, "--log", "json",
                 "--io-timeout", f"{self.combo.io_ms}ms"]
        return self.run((words + ["--", *command] if command else words, limit, True, exit))

    def set_up(self, rng, turn):
        """One that may have come about, and not have said so, is there when it is tried again. Where masters are replaced
        only the old one may have known it: another one is set."""
        self.due = rng.randint(*COUNT)
        self.next_latch(turn)
        for tries in itertools.count():
            if self.latch is None or self.given_up.is_set():
                return
            run = self.call("set", "--count", str(self.due))
            if run.status == EXISTS and tries > 0:
                run.exit = EXISTS
                if self.combo.topology in REPLACED:
                    self.left.add(self.latch)
                    self.next_latch(f"{turn}.{tries}")
                    continue
            if run.status == run.exit:
                return

    def next_latch(self, name):
        self.latch = None if self.over.is_set() else f"{PREFIX}{name}"
        self.counts[self.latch] = self.due

    def count_down(self, rng):
        """Again where one was killed, or does not know: it may have counted, or not."""
        while (by := self.take_due(rng.randint(1, 3))) and not self.given_up.is_set():
            self.note(f"down={time.monotonic_ns()} by={by} latch={self.latch}")
            if self.call("down", "--by", str(by)).status != 0:
                self.take_due(-by)
            time.sleep(rng.uniform(0, 0.2))

    def take_due(self, by):
        with self.lock:
            by = min(by, self.due)
            self.due -= by
            return by

    def wait(self, rng):
        limit = rng.randint(50, 3000) if rng.random() < 0.2 else None
        status = rng.choice(self.EXITS)
        tree = self.tree(rng, rng.choice((1, 5, 20, 80)), f"1 latch={self.latch}", status)
        self.call("wait", *(["-w", f"{limit}ms"] if limit else []), limit=limit, command=tree, exit=status)

    # --- afterwards ------------------------------------------------------------------------------

    def passing(self):
        """(run, latch, since when it could) of those that wait without a limit: since the last count-down had ended."""
        by_end = sorted(self.runs, key=lambda run: run.ended_ns)
        opened = {run.command[4]: run.ended_ns for run in by_end if run.command[2] == "down"}
        return [(run, run.command[4], max(opened.get(run.command[4], run.ended_ns), run.begun_ns))
                for run in self.runs if run.command[2] == "wait" and run.limit is None]

    def violations(self):
        """Whoever is past a latch before so many have begun to count it down."""
        with open(self.history, encoding="utf-8") as file:
            lines = [*file]
        for latch, count in self.counts.items():
            mine = [line for line in lines if f"latch={latch}" in line.split()]
            yield from Rule(f"latch={count}").violations(History(mine, self.beats))
