"""Many that wait for one lock: real rlocks in front, and behind them crowd.c, which plays the rest.

A holder has the lock until it is told to end. Then each rlock in turn runs section.c, which notes when it began and
ended: the time from one's end to the next one's begin is a hand-off, with all the others in line behind. The crowd
stays until it is killed.
"""
import os
import pathlib
import re
import resource
import select
import statistics
import subprocess
import time

import learn
from machine import descendants, wait_for
from server import Server, end, start

REAL = 100  # at most, each a process or two
SPARE = 300  # descriptors of the server that no waiter gets
SLEEPS_S = 0.02  # until who is heard of as a listener has asked once more, and sleeps


def most():
    """How many waiters a server can have here: descriptors, two of each."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    return (limit - SPARE) // 2


def offspring(pid):
    """It and all below it."""
    return [pid, *descendants(pid)]


def cpu_s(pid):
    words = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def private_kib(pid):
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


class Waiters:
    """A server, and all that want its one lock, for as long as its `with` runs."""

    def __init__(self, tools, kind, limit_s=30):
        self.tools, self.kind, self.limit_s = tools, kind, limit_s
        self.server, self.real, self.crowds = Server(), [], []

    def __enter__(self):
        self.log, self.holders = pathlib.Path(self.server.folder, "log-of-sections"), 0
        return self

    def __exit__(self, *_):
        self.kill_crowd()
        for process in self.real:
            end(process)
        self.server.__exit__()

    def start(self, *more):
        command = [*learn.command(self.tools.rlock, self.kind), "--", self.tools.section, "--log", self.log]
        self.real.append(start([*command, *more]))

    def start_holder(self):
        """The next that keeps it until let_go()."""
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

    def let_go(self):
        self.over.touch()

    def join(self, count):
        """So many come to wait, or as many as are missing; the last rlock is to be a holder."""
        real = min(count, REAL)
        for _ in range(real - 1 - self.server.listeners()):
            self.start()
        self.in_line(real - 1)
        self.start_holder()
        self.in_line(real)
        if count > real:
            self.crowd("wait", self.kind, count - real)
        self.in_line(count)

    def in_line(self, count):
        wait_for(f"{count} in line", lambda: self.server.listeners() >= count, self.limit_s)
        time.sleep(SLEEPS_S)

    def crowd(self, what, kind, count, lease_ms=60000):
        """See crowd.c. All have been answered."""
        process = start([self.tools.crowd, what, self.server.url, kind, learn.NAME, str(count),
                         str(lease_ms)], stdout=subprocess.PIPE)
        self.crowds.append(process)
        said, _, _ = select.select([process.stdout], [], [], self.limit_s)
        if not said or not process.stdout.read(1):
            raise TimeoutError(f"{count} of a crowd not answered within {self.limit_s} s")

    def kill_crowd(self):
        for process in self.crowds:
            end(process)
        self.crowds.clear()

    def pass_on(self):
        """From one holder through all that wait before the next."""
        self.let_go()
        wait_for("the last to have it", self.has_it, self.limit_s)
        if any(each.poll() not in (None, 0) for each in self.real):
            raise RuntimeError("an rlock failed")

    def gaps_ms(self):
        """Between those who have ended by now."""
        text = self.log.read_text(encoding="ascii")
        stays = sorted(tuple(map(int, stay)) for stay in re.findall("enter=([0-9]+) exit=([0-9]+) ", text))
        return [(after[0] - before[1]) / 1e6 for before, after in zip(stays, stays[1:])]

    # --- what is measured -------------------------------------------------------------------------

    def idle(self, settle_s, seconds):
        """What it costs while nothing happens."""
        time.sleep(settle_s)
        pids = [pid for each in (*self.real[1:], *self.crowds) for pid in offspring(each.pid)]
        one = offspring(self.real[-1].pid)
        (scripts, inner), cpu = self.server.calls(), self.server.cpu_us()
        used, began = sum(map(cpu_s, pids)), time.monotonic()
        time.sleep(seconds)
        took, used = time.monotonic() - began, sum(map(cpu_s, pids)) - used
        more_scripts, more_inner = self.server.calls()
        cpu = self.server.cpu_us() - cpu
        scripts, inner = more_scripts - scripts, more_inner - inner
        return {"scripts": scripts / took, "commands": inner / max(scripts, 1),
                "server_cpu": cpu / 1e6 / took, "waiters_cpu": used / took,
                "processes": len(one), "private_kib": sum(map(private_kib, one))}


def one_by_one(tools, kind, turns):
    """The floor: from the end of one to the begin of the next where nobody waits; times in ms."""
    with Waiters(tools, kind) as scene:
        words = learn.command(tools.rlock, kind)
        subprocess.run([tools.sidebyside, str(turns), *words, "--", tools.section, "--log", scene.log],
                       check=True, stdout=subprocess.DEVNULL)
        return scene.gaps_ms()


def measure(tools, kind, count, size):
    """(idle's figures, None of few; {floor, median, scripts} of a hand-off)"""
    idle, gaps, scripts = None, [], 0
    floor = one_by_one(tools, kind, size.turns)  # as busy as the machine is just then, and after
    with Waiters(tools, kind, size.limit_s) as scene:
        alone = scene.server.connections()
        scene.hold()
        while len(gaps) < size.turns - 1 and not scene.crowds:  # who would come behind a crowd
            scene.join(count)
            if count >= 10 and idle is None:
                connections = (scene.server.connections() - alone) / (count + 1)
                idle = {**scene.idle(size.settle_s, size.idle_s), "connections": connections}
            before = scene.server.calls()[0]
            scene.pass_on()
            scripts += scene.server.calls()[0] - before
            gaps = scene.gaps_ms()
    floor += one_by_one(tools, kind, size.turns)
    return idle, {"floor": statistics.median(floor), "median": statistics.median(gaps),
                  "scripts": scripts / (len(gaps) + 1)}
