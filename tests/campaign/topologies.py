"""What a round plays on, by name."""
import os

import redisson
from replicated import Sentinels, Shards
from servers import SIZES, Topology

NAMES = (*SIZES, "sentinel", "cluster", *redisson.SERVERS)


class Place:
    """What a topology is given. wires: where proxies live; clock: the library ../tools/clock.c."""

    def __init__(self, folder, wires, section, rlock, combo):
        self.folder, self.wires, self.rlock = folder, wires, rlock
        self.clock = os.path.join(os.path.dirname(section), "clock.so")
        self.seed, self.lease_s = combo.seed, combo.lease_s


def start(name, kind, place):
    if name in redisson.SERVERS:
        return redisson.Mixed(name, place, kind)
    if name == "sentinel":
        return Sentinels(place)
    return Shards(place) if name == "cluster" else Topology(name, place)
