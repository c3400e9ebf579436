"""One round: a combination of topology, kind and faults, by its seed."""
import shutil
import tempfile
import time

import judges
import nemesis
from crew import NAME, Crew
from observer import Observer
from proxy import Wires
from servers import Topology

REST_S = 20  # until what a dead waiter or holder left in Redis has expired


class Combo:
    def __init__(self, seed, topology, kind, faults, seconds, lease_s=1.5, long_share=0.08, settle_s=15):
        """long_share: of the commands that outlast their first lease. settle_s: until all have
        ended, when all is well again: ten seconds for the dead in the line, and some to work."""
        self.seed, self.topology, self.kind, self.seconds = seed, topology, kind, seconds
        self.faults, self.lease_s, self.long_share, self.settle_s = faults, lease_s, long_share, settle_s

    def __str__(self):
        """The options that play it again."""
        return (f"--round {self.seed} --topology {self.topology} --kind {self.kind} "
                f"--seconds {self.seconds:g} --faults {','.join(self.faults) or 'none'}")


class Played:
    """The evidence, and what the judges say of it."""

    def __init__(self, combo, rlock, section):
        begun = time.monotonic()
        self.combo, self.folder = combo, tempfile.mkdtemp(prefix="campaign-")
        self.faults = nemesis.plan(combo.seed, combo.faults, combo.seconds, combo.lease_s)
        wires = Wires()
        self.topology = Topology(combo.topology, self.folder, wires, combo.seed, combo.lease_s)
        try:
            self.crew = Crew(combo, rlock, section, self.folder, self.topology.url)
            self.observers = [Observer(server, NAME, self.crew.note_queued)
                              for server in self.topology.servers]
            try:
                self.play()
            finally:
                self.crew.over.set()
                self.crew.join(0)
        finally:
            self.topology.close()
            wires.close()
        judged = judges.Judged(self)
        self.anomalies = list(judged.anomalies())
        self.lasted_s = time.monotonic() - begun
        self.sections, self.checked = len(judged.history.sections), judged.checked

    def play(self):
        self.crew.start()
        if self.faults:
            nemesis.Nemesis(self.topology, self.crew, self.faults).play()
        else:
            time.sleep(self.combo.seconds)
        self.crew.over.set()
        self.late = self.crew.join(self.combo.settle_s)
        for observer in self.observers:
            observer.close()
        self.left_behind = self.rest(self.crew.left_behind, 3)
        self.remains = self.rest(self.left_in_redis, REST_S)

    def left_in_redis(self):
        return [found for server in self.topology.servers
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


def statuses(played):
    counts = {}
    for run in played.crew.runs:
        counts[run.status] = counts.get(run.status, 0) + 1
    return counts


def bites(played):
    counts = {}
    for fault in played.faults:
        counts[fault.name] = counts.get(fault.name, 0) + fault.bites
    return counts
