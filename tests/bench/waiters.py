"""Many rlocks that wait for one lock.

A holder has the lock until it is told to end. Then each rlock in turn runs section.c, which notes when it began and
ended: the time from one's end to the next one's begin is a hand-off, with all the others in line behind.
"""
import pathlib
import re
import statistics
import time

import learn
from machine import wait_for
from server import Server, end, start

SLEEPS_S = 0.02  # until who is heard of as a listener has asked once more, and sleeps


def private_kib(pid):
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


class Waiters:
    """A server, and all that want its one lock, for as long as its `with` runs."""

    def __init__(self, tools, kind, limit_s=30):
        self.tools, self.kind, self.limit_s = tools, kind, limit_s
        self.server, self.rlocks = Server(), []

    def __enter__(self):
        self.log, self.holders = pathlib.Path(self.server.folder, "log-of-sections"), 0
        return self

    def __exit__(self, *_):
        for process in self.rlocks:
            end(process)
        self.server.__exit__()

    def start(self, *more):
        command = [*learn.command(self.tools.rlock, self.kind), "--", self.tools.section, "--log", self.log]
        self.rlocks.append(start([*command, *more]))

    def start_holder(self):
        """The next that keeps it until pass_on()."""
        self.holders += 1
        self.start("--until", f"{self.server.folder}/over-{self.holders}", "--note", f"holder={self.holders}.")

    def has_it(self):
        """The holder's command runs."""
        if has := self.log.exists() and f" holder={self.holders}." in self.log.read_text(encoding="ascii"):
            self.over = pathlib.Path(self.server.folder, f"over-{self.holders}")
        return has

    def hold(self):
        self.start_holder()
        wait_for("a holder", self.has_it)

    def join(self, count):
        """So many come to wait; the last is to be a holder."""
        for _ in range(count - 1):
            self.start()
        self.in_line(count - 1)
        self.start_holder()
        self.in_line(count)

    def in_line(self, count):
        wait_for(f"{count} in line", lambda: self.server.listeners() >= count, self.limit_s)
        time.sleep(SLEEPS_S)

    def pass_on(self):
        """From one holder through all that wait before the next."""
        self.over.touch()
        wait_for("the last to have it", self.has_it, self.limit_s)
        if any(each.poll() not in (None, 0) for each in self.rlocks):
            raise RuntimeError("an rlock failed")

    def gaps_ms(self):
        """Between those who have ended by now."""
        text = self.log.read_text(encoding="ascii")
        stays = sorted(tuple(map(int, stay)) for stay in re.findall("enter=([0-9]+) exit=([0-9]+) ", text))
        return [(after[0] - before[1]) / 1e6 for before, after in zip(stays, stays[1:])]


def one_by_one(tools, kind, turns):
    """The floor: from the end of one to the begin of the next where nobody waits; times in ms."""
    with Waiters(tools, kind) as scene:
        tools.side_by_side(turns, [*learn.command(tools.rlock, kind), "--", tools.section, "--log", scene.log])
        return scene.gaps_ms()


def measure(tools, kind, count, size):
    """{floor, median} of a hand-off, and the memory of one that waits."""
    gaps = []
    floor = one_by_one(tools, kind, size.turns)  # as busy as the machine is just then, and after
    with Waiters(tools, kind, size.limit_s) as scene:
        scene.hold()
        while len(gaps) < size.turns - 1:
            scene.join(count)
            memory = private_kib(scene.rlocks[-1].pid)
            scene.pass_on()
            gaps = scene.gaps_ms()
    floor += one_by_one(tools, kind, size.turns)
    return {"floor": statistics.median(floor), "median": statistics.median(gaps), "private_kib": memory}
