"""Which clients come together, and how far it is played."""
from typing import NamedTuple

from latch import Latch, SearchLatch
from model import Model
from quorum import Quorum, SearchQuorum
from roles import Role
from search import Search

FAULTS = ("late", "dies", "stopped", "cut", "set back")  # and replies that are lost


class Scene(NamedTuple):
    """quick, full: (clients, requests of each, faults, steps of time), one after the other."""
    roles: tuple
    quick: tuple
    full: tuple
    faults: tuple = FAULTS
    commands: int = 41  # of one script: "about 40"

    def search(self, server, folder, size, broken=None):
        clients, steps, faults, times = size
        return Search(Model(server, folder, self.roles[:clients], steps, faults, times, self.faults, broken,
                            self.commands))


class LatchScene(NamedTuple):
    """quick, full: (clients, 1, faults, steps of time): each asks until it is answered."""
    kinds: tuple
    quick: tuple
    full: tuple

    def search(self, server, folder, size, broken=None):
        clients, _, faults, times = size
        return SearchLatch(Latch(server, folder, self.kinds[:clients], faults, times, broken))


class QuorumScene(NamedTuple):
    """quick, full: (clients, turns of each, faults, ends of all leases)."""
    kinds: tuple
    quick: tuple
    full: tuple

    def search(self, server, folder, size, broken=None):
        clients, turns, faults, times = size
        return SearchQuorum(Quorum(server, folder, self.kinds[:clients], turns, faults, times, broken))


def sems(kind):
    one, two = Role(kind, total="2"), Role(kind, total="2", permits=2)
    return one, two, one, one


QUICK = ((2, 3, 1, 0),)
FULL = ((4, 4, 0, 0), (3, 3, 1, 1), (2, 4, 2, 2))
RUN, FAIR, READ, WRITE = (Role(kind) for kind in ("run", "fair", "read", "write"))
SCENES = {
    "run": Scene((RUN,) * 4, QUICK, FULL),
    "fair": Scene((FAIR,) * 4, QUICK, FULL),
    "fair --priority": Scene(tuple(Role("fair", priority=each) for each in (0, 1, -1, 1)), QUICK, FULL),
    "fair --priority --supersede": Scene(
        (Role("fair", variant="supersede"), Role("fair", variant="supersede", priority=1), FAIR, FAIR), QUICK, FULL,
        commands=50),
    "fair, run": Scene((FAIR, RUN, FAIR, RUN), QUICK, FULL),
    "fair --supersede": Scene((Role("fair", variant="supersede"),) * 3 + (FAIR,), QUICK, FULL, commands=50),
    "read, write": Scene((READ, WRITE, READ, WRITE), QUICK, FULL),
    "write --prefer-readers": Scene((READ, Role("write", variant="prefer-readers"), READ, WRITE), QUICK, FULL),
    "sem": Scene(sems("sem"), QUICK, FULL),
    "sem --plain": Scene(sems("plain"), QUICK, FULL),
    "run in run": Scene((RUN, Role("run", inner=0), RUN, FAIR), QUICK, FULL),
    "read in write": Scene((WRITE, Role("read", inner=0), READ, WRITE), QUICK, FULL),
    "run --min-hold": Scene((Role("run", keep=1000), RUN, RUN, FAIR), QUICK, FULL),
    "run -x": Scene((Role("run", waits=False), RUN, RUN, RUN), QUICK, FULL),
    "the clock set forth": Scene((RUN, FAIR, RUN, FAIR), QUICK, FULL, ("late", "dies", "set forth")),
    "latch": LatchScene(("set", "down", "down", "wait", "down", "wait"), ((4, 1, 1, 1),), ((6, 1, 3, 4),)),
    "tokens of a quorum": QuorumScene(("run",) * 3, ((2, 1, 0, 0),), ((2, 1, 1, 0), (2, 2, 0, 0), (3, 1, 0, 0))),
    "tokens of a quorum, shared": QuorumScene(
        ("read", "read", "write"), (), ((2, 1, 0, 0), (2, 1, 1, 0), (3, 1, 0, 0))),
}
