"""Which clients come together, and how far it is played."""
from typing import Callable, NamedTuple

from client import YEAR
from latch import Latch, SearchLatch
from model import Model
from quorum import Quorum, SearchQuorum
from roles import LEASE, Role
from search import Search

FAULTS = ("late", "dies", "stopped", "cut", "set back")  # and replies that are lost


QUICK = ((2, 3, 1, 0),)
FULL = ((4, 4, 0, 0), (3, 3, 1, 1), (2, 4, 2, 2))


class Scene(NamedTuple):
    """search(server, folder, size, broken=None). quick, full: sizes, one after the other."""
    search: Callable
    quick: tuple = QUICK
    full: tuple = FULL


def clients(*roles, faults=FAULTS, commands=41):
    """Size: (clients, requests of each, faults, steps of time). commands: of one script, "about 40"."""
    return lambda server, folder, size, broken=None: Search(
        Model(server, folder, roles[:size[0]], *size[1:], faults, broken, commands))


def latch(*kinds):
    """Size: (clients, 1, faults, steps of time): each asks until it is answered."""
    return lambda server, folder, size, broken=None: SearchLatch(
        Latch(server, folder, kinds[:size[0]], *size[2:], broken))


def quorum(*kinds):
    """Size: (clients, turns of each, faults, ends of all leases)."""
    return lambda server, folder, size, broken=None: SearchQuorum(
        Quorum(server, folder, kinds[:size[0]], *size[1:], broken))


def sems(kind):
    one = Role(kind, total="2", lease=YEAR if kind == "plain" else LEASE)
    two = one._replace(permits=2)
    return clients(one, two, one, one)


RUN, FAIR, READ, WRITE = (Role(kind) for kind in ("run", "fair", "read", "write"))
NEWEST = Role("fair", variant="supersede")
SCENES = {
    "run": Scene(clients(RUN, RUN, RUN, RUN)),
    "fair": Scene(clients(FAIR, FAIR, FAIR, FAIR)),
    "fair --priority": Scene(clients(*(Role("fair", priority=each) for each in (0, 1, -1, 1)))),
    "fair --priority --supersede": Scene(clients(NEWEST, NEWEST._replace(priority=1), FAIR, FAIR, commands=50)),
    "fair, run": Scene(clients(FAIR, RUN, FAIR, RUN)),
    "fair --supersede": Scene(clients(NEWEST, NEWEST, NEWEST, FAIR, commands=50)),
    "read, write": Scene(clients(READ, WRITE, READ, WRITE)),
    "sem": Scene(sems("sem")),
    "sem --plain": Scene(sems("plain")),
    "run in run": Scene(clients(RUN, Role("run", inner=0), RUN, FAIR)),
    "read in write": Scene(clients(WRITE, Role("read", inner=0), READ, WRITE)),
    "read in read": Scene(clients(READ, Role("read", inner=0), WRITE, READ)),
    "run --min-hold": Scene(clients(Role("run", keep=1000), RUN, RUN, FAIR)),
    "run -x": Scene(clients(Role("run", waits=False), RUN, RUN, RUN)),
    "the clock set forth": Scene(clients(RUN, FAIR, RUN, FAIR, faults=("late", "dies", "set forth"))),
    "latch": Scene(latch("set", "down", "down", "wait", "down", "wait"), ((4, 1, 1, 1),), ((6, 1, 3, 4),)),
    "tokens of a quorum": Scene(quorum("run", "run", "run"), ((2, 1, 0, 0),), ((2, 1, 1, 0), (2, 2, 0, 0), (3, 1, 0, 0))),
    "tokens of a quorum, shared": Scene(quorum("read", "read", "write"), (), ((2, 1, 0, 0), (2, 1, 1, 0), (3, 1, 0, 0))),
}
