"""One round: a combination of topology, kind and faults, by its seed."""
import collections
import os
import random
import shutil
import tempfile
import time

import judges
import nemesis
import redisson
from crew import LONGEST, NAME, Crew
from latches import LatchCrew
from observer import EVERY_S, Observer, Pulse
from replicated import Sentinels, Shards
from servers import SIZES, Topology
from wires import Wires

REST_S = 20  # until what a dead waiter or holder left in Redis has expired


TOPOLOGIES = {**dict.fromkeys(SIZES, Topology), "sentinel": Sentinels, "cluster": Shards,
              **dict.fromkeys(redisson.SERVERS, redisson.Mixed)}


# What a topology is given. wires: where proxies live; clock: the library ../tools/clock.c.
Place = collections.namedtuple("Place", "folder wires rlock clock kind seed lease_s")


class Combo:
    def __init__(self, seed, topology, kind, faults, seconds, **fixed):
        """What is not fixed the seed says."""
        self.seed, self.topology, self.kind, self.seconds, self.faults = seed, topology, kind, seconds, faults
        rng = random.Random(f"{seed} combo")
        self.lease_s = rng.choice((2,) if kind == "handle" or topology in redisson.SERVERS else (0.6, 1, 1.5))  # slow ones
        self.io_ms = rng.choice((300, 300, 1000, 5000))
        self.long_share = rng.choice((0, 0, 0.02, 0.1, 0.3))  # of the commands that outlast their first lease
        pace = rng.choice(("each", "each", "together"))
        self.pace = pace if faults else "together"  # where nobody new comes, only who is woken enters soon
        self.workers = rng.choice((3, 4, 6))
        # Of several servers that are independent fewer than half are struck:
        self.few = topology.startswith("quorum") and (rng.random() < 0.6 or "clock-stepped" in faults)
        # Until all have ended, when all is well again: see judges.waits(). The commands take their time, too.
        self.settle_s = (15 if kind != "handle" else 30) + self.workers * LONGEST * self.lease_s
        self.__dict__.update((name, value) for name, value in fixed.items() if value is not None)

    def __str__(self):
        """The options that play it again."""
        return (f"--round {self.seed} --topology {self.topology} --kind {self.kind} "
                f"--seconds {self.seconds:g} --workers {self.workers} "
                f"--faults {','.join(self.faults) or 'none'}")


class Played:
    """The evidence, and what the judges say of it."""

    def __init__(self, combo, rlock, section):
        begun = time.monotonic()
        self.combo, self.folder = combo, tempfile.mkdtemp(prefix="campaign-")
        self.faults = nemesis.plan(combo.seed, combo.faults, combo.seconds, combo.lease_s)
        self.pulse, wires = Pulse(), Wires()
        place = Place(self.folder, wires, rlock, f"{os.path.dirname(section)}/clock.so", combo.kind, combo.seed, combo.lease_s)
        self.topology = TOPOLOGIES[combo.topology](combo.topology, place)
        try:
            make = LatchCrew if combo.kind == "latch" else Crew
            self.crew = make(combo, rlock, section, self.folder, self.topology.url)
            servers = self.topology.servers
            if combo.few:
                nemesis.spare_most(self.faults, len(servers))
            self.observers = [Observer(server, NAME, combo.kind, self.crew.note_queued, EVERY_S * len(servers))
                              for server in servers]
            try:
                self.play()
            finally:
                self.crew.over.set()
                self.crew.join(0)
                self.crew.kill_left_behind()
        finally:
            self.topology.close()
            wires.close()
            self.pulse.close()
        self.judged = judges.Judged(self)
        self.anomalies = list(self.judged.anomalies())
        self.lasted_s = time.monotonic() - begun

    def play(self):
        self.crew.start()
        self.topology.begin()
        until = time.monotonic() + self.combo.seconds
        nemesis.Nemesis(self.topology, self.crew, self.faults).play()
        time.sleep(max(0, until - time.monotonic()))
        self.crew.over.set()
        self.topology.end()
        self.late = self.crew.join(self.combo.settle_s)
        for observer in self.observers:
            observer.close()
        self.pulse.note_slow(self.observers, [(fault.begun_ns, fault.ended_ns) for fault in self.faults
                                              if fault.begun_ns and fault.name not in nemesis.PROCESS])
        self.left_behind = self.rest(self.crew.left_behind, 3)
        self.remains = self.rest(self.left_in_redis, REST_S)

    def left_in_redis(self):
        return [found for server in self.topology.leaders()
                for found in judges.remains_of(server, self.combo.kind)]

    def rest(self, look, seconds):
        """What look finds, or still finds after so many seconds; what has no end is not waited for."""
        until = time.monotonic() + seconds
        while (found := look()) and time.monotonic() < until:
            if any(isinstance(each, tuple) and each[2] == -1 for each in found):
                break
            time.sleep(0.1)
        return found

    def forget(self):
        shutil.rmtree(self.folder)
