"""The servers that a round plays on, and the ways in which each fails.

A fault of theirs is a generator: it has begun at its first yield, is asked to end when it goes on,
and has not ended yet as long as it yields; it counts its own bites."""
import os
import re
import signal
import struct
import threading
import time

import wires
from crew import NAME
from redis_server import ALONE, RedisServer, debugged, keeping, version
from resp import Connection

FAULTS = ("paused", "restarted", "scripts-flushed", "clients-killed", "memory-full", "clients-full",
          "writes-paused", "slow", "clock-stepped", "lock-deleted")
IMPOSSIBLE = () if version() >= (6, 2) else ("writes-paused",)
SIZES = {"socket": 1, "tcp": 1, "quorum3": 3, "quorum5": 5}
STEPS_S = (-60, -2, -0.5, 0.5, 2, 60)  # of one of several: the others know better
STEPS_BACK_S = (-3, -2, -1, -0.5)      # forward ends leases early: rlock-server(7)
NAP_S = 0.15
COUNTED = {  # by fault: what begins it, what ends it, and what counts its bites
    "memory-full": (["CONFIG SET maxmemory 1"], ["CONFIG SET maxmemory 0"], "errorstats", "errorstat_OOM"),
    "clients-full": (["CONFIG SET maxclients 1", "CLIENT KILL TYPE normal"], ["CONFIG SET maxclients 4064"],
                     "stats", "rejected_connections"),
    "scripts-flushed": (["SCRIPT FLUSH"], [], "errorstats", "errorstat_NOSCRIPT"),
}
DELETE = """
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return {} end
local owners = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if field ~= 'mode' then owners[#owners + 1] = (string.gsub(field, ':write$', '')) end
end
redis.call('DEL', KEYS[1])
return owners
"""


class Server(RedisServer):
    """What fails, and how. library: the clock that may be set (../tools/clock.c)."""

    steps_s = STEPS_BACK_S

    def __init__(self, folder, *words, library, launcher=()):
        os.makedirs(folder, exist_ok=True)
        self.deletions = []  # (when, whose lock)
        self.ahead_s = 0
        self.clock = os.path.join(folder, "clock")
        self.set_clock(0)
        super().__init__(folder, *words, *debugged(), launcher=launcher, clock=(library, self.clock))

    def set_clock(self, ahead_s):
        with open(self.clock, "r+b" if os.path.exists(self.clock) else "wb") as file:
            file.write(struct.pack("q", int(ahead_s * 1e9)))

    def statistic(self, section, name):
        """The first number of that line, 0 where there is none."""
        found = re.search(rf"^{name}:(?:[a-z]+=)?(\d+)", self.call("INFO", section), re.M)
        return int(found[1]) if found else 0

    # --- faults ----------------------------------------------------------------------------------

    def paused(self, fault):
        self.signal(signal.SIGSTOP)
        yield
        self.signal(signal.SIGCONT)
        fault.bites += 1

    def restarted(self, fault):
        self.stop()
        yield
        self.start()
        fault.bites += 1

    def counted(self, fault):
        """One of COUNTED."""
        begin, end, *counter = COUNTED[fault.name]
        before = self.statistic(*counter)
        for command in begin:
            self.call(*command.split())
        yield
        for command in end:
            self.call(*command.split())
        fault.bites += self.statistic(*counter) - before

    def clients_killed(self, fault):
        fault.bites += self.call("CLIENT", "KILL", "TYPE", "normal") + self.call("CLIENT", "KILL", "TYPE", "pubsub")
        yield

    def writes_paused(self, fault):
        """Reads are answered, scripts are not."""
        self.call("CLIENT", "PAUSE", int(fault.lasts_s * 2000), "WRITE")
        yield
        clients = self.call("CLIENT", "LIST")
        fault.bites += len(re.findall(r" flags=[^ ]*b[^ ]* .* cmd=evalsha ", clients))
        self.call("CLIENT", "UNPAUSE")

    def slow(self, fault):
        """It sleeps again and again, and does between what has come meanwhile."""
        before, over = self.statistic("commandstats", "cmdstat_evalsha"), threading.Event()
        sleeper = threading.Thread(target=self.nap_until, args=(over,), daemon=True)
        sleeper.start()
        yield
        over.set()
        sleeper.join()
        fault.bites += self.statistic("commandstats", "cmdstat_evalsha") > before

    def nap_until(self, over):
        connection = Connection(self.socket)
        while not over.wait(NAP_S / 5):
            connection.call("DEBUG", "SLEEP", NAP_S)

    def clock_stepped(self, fault):
        """It stays so until another step."""
        step_s = self.steps_s[int(fault.choice * len(self.steps_s))]
        if self.steps_s is STEPS_BACK_S:  # from one of them to another may be forward
            step_s = self.ahead_s = min(step_s, self.ahead_s)
        fault.target += f", to {step_s} s"
        leases = re.search(r"expires=(\d+)", self.call("INFO", "keyspace"))
        fault.bites += bool(leases and int(leases[1]))
        self.set_clock(step_s)
        yield

    def lock_deleted(self, fault):
        at_ns, owners = time.monotonic_ns(), self.call("EVAL", DELETE, 1, NAME)
        self.deletions.append((at_ns, owners))
        fault.bites += len(owners)
        yield


class Topology:
    """socket: a server on its socket. tcp: through a proxy. quorum3, quorum5: that many, each so."""

    patience_s = 1  # of a fault, until it can begin
    failures = ()   # of those beside the crew: why, and when

    def __init__(self, name, place, *words):
        self.servers = [Server(os.path.join(place.folder, f"server{i}"), *ALONE, *keeping("always"), *words,
                               library=place.clock) for i in range(1, SIZES[name] + 1)]
        self.wires, self.proxies = place.wires, []
        self.believed = len(self.servers) // 2  # as many may still count on a lease that is over
        if len(self.servers) > 1:
            self.servers[0].steps_s = STEPS_S
        if name == "socket":
            self.url = "unix://" + self.servers[0].socket
            return
        self.proxies = [place.wires.proxy(server.socket, f"{place.seed} wire {i}", place.lease_s)
                        for i, server in enumerate(self.servers)]
        self.url = " ".join(f"redis://127.0.0.1:{wire.port}" for wire in self.proxies)

    def choose(self, fault):
        """Whom it strikes. Of several only one is set, for a majority of clocks must be right."""
        return 0 if fault.name == "clock-stepped" else int(fault.choice * len(self.servers))

    def claims(self, fault, number):
        """What may be broken once at a time."""
        return "wire" if fault.name in wires.FAULTS else "server", number

    def ready(self):
        """Whether a fault may come now."""
        return True

    def strike(self, fault, number):
        if fault.name in wires.FAULTS:
            return self.on_wire(fault, self.proxies[number])
        course = "counted" if fault.name in COUNTED else fault.name.replace("-", "_")
        return getattr(self.servers[number], course)(fault)

    def on_wire(self, fault, wire):
        before = wire.bites[fault.name]
        self.wires.do(wire.begin(fault.name))
        yield
        self.wires.do(wire.end(fault.name))
        fault.bites += wire.bites[fault.name] - before

    def begin(self):
        """Whoever else is to be beside the crew."""

    def end(self):
        """They come to their end."""

    def leaders(self):
        """The servers on which a lock may be."""
        return self.servers

    def close(self):
        for wire in self.proxies:
            self.wires.do(wire.close())
        for server in self.servers:
            server.stop()
