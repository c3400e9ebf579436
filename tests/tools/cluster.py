#!/usr/bin/env python3
"""What the tests ask of a cluster (tests/lib/cluster.bash), in one process each.

usage: cluster.py DIR files PORT... BUS...   the nodes' first files: DIR/nN/nodes.conf, place and options
       cluster.py DIR takeover NODE...       each becomes the master of what it is the replica of
       cluster.py DIR ready                  waits until it is whole, then empties it
       cluster.py DIR quiet                  waits until nobody listens to any
       cluster.py DIR await NODE             waits until it is a master, all know it, and it works
       cluster.py DIR failover NODE          planned: its replica becomes the master
       cluster.py DIR names                  three names, that live on one master each
       cluster.py DIR masters
       cluster.py DIR replica NODE           that follows it
       cluster.py DIR left                   all keys on all masters
       cluster.py DIR begin NAME NODE        its slot begins to move there: importing, migrating
       cluster.py DIR keys NAME NODE [KEY...]  its keys, or these, move there
       cluster.py DIR end NAME NODE          the slot is there
       cluster.py DIR uncover                a slot that nobody has: the cluster is down
       cluster.py DIR cover                  and has it again

Nodes are called n1, n2... and have the sockets DIR/nN/sock; those that are stopped or not there are
left out. N is the number that a node's id ends with.
"""
import binascii
import contextlib
import os
import sys
import time

from resp import Connection

SLOTS, MASTERS, UNCOVERED = 16384, 3, 7
OPTIONS = """--bind {host} --port {port} --cluster-enabled yes --cluster-port {bus} --protected-mode no
    --cluster-config-file nodes.conf --cluster-node-timeout 1000 --cluster-replica-validity-factor 0
    --cluster-migration-barrier 10 --repl-diskless-sync-delay 0 --repl-diskless-load swapdb"""
LIMIT_S = 30 * int(os.environ.get("RLOCK_TEST_SLOW", 1))


def slot_of(name):
    _, brace, rest = name.partition("{")
    tag, closed, _ = rest.partition("}")
    return binascii.crc_hqx((tag if brace and closed and tag else name).encode(), 0) % SLOTS


class Line:
    """One of CLUSTER NODES."""

    def __init__(self, line):
        words = line.split()
        self.node, self.flags = f"n{int(words[0], 16)}", words[2].split(",")
        self.follows = None if words[3] == "-" else f"n{int(words[3], 16)}"
        self.master = "master" in self.flags
        self.fails = "fail" in self.flags
        ranges = [of.split("-") for of in words[8:] if not of.startswith("[")]
        self.slots = [range(int(ends[0]), int(ends[-1]) + 1) for ends in ranges]

    def serves(self, slot):
        return self.master and not self.fails and any(slot in slots for slots in self.slots)


class Node:
    def __init__(self, directory, name):
        self.name, self.dir = name, os.path.join(directory, name)
        self.id = f"{int(name[1:]):040x}"
        self.server = self.host = self.port = None
        if os.path.exists(self.file("place")):
            with open(self.file("place"), encoding="ascii") as file:
                self.host, self.port, _ = file.read().split()

    def file(self, name):
        return os.path.join(self.dir, name)

    def answers(self):
        """Not stopped, and there."""
        try:
            with open(self.file("pid"), encoding="ascii") as file:
                pid = file.read().strip()
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                if file.read().rpartition(")")[2].split()[0] in "TZ":
                    return False
            return self.call("PING") is not None
        except OSError as error:
            return "MASTERDOWN" in str(error) or "LOADING" in str(error)

    def call(self, *words):
        if self.server is None:
            self.server = Connection(self.file("sock"))
        return self.server.call(*words)

    def view(self):
        return [Line(line) for line in self.call("CLUSTER", "NODES").splitlines()]

    def works(self):
        return "cluster_state:ok" in self.call("CLUSTER", "INFO")

    def has_replica(self):
        info = self.call("INFO", "replication")
        return "role:master" in info and "state=online" in info


class Cluster:
    def __init__(self, directory):
        self.dir = directory
        self.nodes = {name: Node(directory, name) for name in sorted(os.listdir(directory))
                      if name[0] == "n" and name[1:].isdigit()}
        self.up = [node for node in self.nodes.values() if node.answers()]

    def until(self, condition, what):
        end = time.monotonic() + LIMIT_S
        while True:
            with contextlib.suppress(OSError):  # a failover under way closes connections
                if condition():
                    return
            if time.monotonic() > end:
                sys.exit(f"cluster.py: not in {LIMIT_S} s: {what}\n" +
                         "\n".join(node.call("CLUSTER", "NODES") for node in self.up))
            time.sleep(0.02)

    def lines(self):
        return self.up[0].view()

    def masters(self):
        return [self.nodes[line.node] for line in self.lines() if line.master and line.slots and not line.fails]

    def serving(self, name, lines=None):
        """The master of its slot, by these lines; None: nobody is."""
        return next((self.nodes[line.node] for line in lines or self.lines() if line.serves(slot_of(name))), None)

    def home(self, name):
        return self.serving(name) or sys.exit(f"cluster.py: nobody has the slot of {name}")

    def replicas(self, name):
        return [self.nodes[line.node] for line in self.lines() if line.follows == name and not line.fails]

    def all_say(self, name, condition):
        return all(condition(line) for node in self.up for line in node.view() if line.node == name)

    def leads(self, node):
        return node.works() and self.all_say(node.name, lambda line: line.master and line.slots and not line.fails)

    def whole(self):
        masters = self.masters()
        return len(self.up) == len(self.nodes) and len(masters) == MASTERS and \
            all(node.works() for node in self.up) and \
            all(node.has_replica() and self.leads(node) for node in masters)

    def do_files(self, *ports):
        count = len(ports) // 2
        self.files([("127.0.0.1", port, bus) for port, bus in zip(ports[:count], ports[count:])])

    def files(self, places):
        """The first three are replicas, to take over from the others: see cluster.bash."""
        lines = [self.first_line(n, *place) for n, place in enumerate(places, 1)]
        for n, place in enumerate(places, 1):
            node = Node(self.dir, f"n{n}")
            os.makedirs(node.dir)
            options = OPTIONS.format(**dict(zip(("host", "port", "bus"), place)))
            mine = [line.replace("{myself}", "myself," if line is lines[n - 1] else "") for line in lines]
            for name, text in (("place", " ".join(map(str, place))), ("options", " ".join(options.split())),
                               ("nodes.conf", "".join(mine) + f"vars currentEpoch {MASTERS} lastVoteEpoch 0")):
                with open(node.file(name), "w", encoding="ascii") as file:
                    file.write(text + "\n")

    @staticmethod
    def first_line(n, host, port, bus):
        third = (n - 1) % MASTERS
        begin = f"{n:040x} {host}:{port}@{bus} {{myself}}"
        if n <= MASTERS:
            return f"{begin}slave {n + MASTERS:040x} 0 0 {third + 1} connected\n"
        low, high = SLOTS * third // MASTERS, SLOTS * (third + 1) // MASTERS - 1
        return f"{begin}master - 0 0 {third + 1} connected {low}-{high}\n"

    def do_takeover(self, *names):
        self.until(lambda: all(self.nodes[name].works() for name in names), "replicas work")
        for name in names:
            self.until(lambda: "master_link_status:up" in self.nodes[name].call("INFO", "replication"), "replicas follow")
            self.nodes[name].call("CLUSTER", "FAILOVER", "TAKEOVER")
            self.until(lambda: self.all_say(name, lambda line: line.master and line.slots), f"{name} leads")

    def do_quiet(self):
        self.until(lambda: not any(node.call("PUBSUB", "SHARDCHANNELS") + node.call("PUBSUB", "CHANNELS")
                                   for node in self.up), "nobody listens")

    def do_ready(self):
        self.until(self.whole, "whole")
        for node in self.masters():
            node.call("FLUSHALL")
        for node in self.up:
            node.call("CONFIG", "RESETSTAT")
        # Not before they have heard that each has some of its master's data.
        self.until(lambda: all(len(row) > 3 for node in self.up for row in node.call("CLUSTER", "SLOTS")),
                   "all tell of all replicas")

    def do_await(self, name):
        self.until(lambda: self.leads(self.nodes[name]), f"{name} is a master")

    def do_failover(self, name):
        """Nobody votes twice within two seconds on who follows a master: asked again until then."""
        self.until(lambda: self.replicas(name), f"{name} has a replica that others know of")
        replica, asked = self.replicas(name)[0], 0

        def done():
            nonlocal asked
            if self.leads(replica):
                return True
            if time.monotonic() > asked + 2.5:
                replica.call("CLUSTER", "FAILOVER")
                asked = time.monotonic()
            return False

        self.until(done, f"{replica.name} has taken over")

    def do_names(self):
        found = {}
        for n in range(1000):
            found.setdefault(self.home(f"x{n}").name, f"x{n}")
            if len(found) == MASTERS:
                break
        print(*(name for _, name in sorted(found.items())))

    def do_masters(self):
        print(*(node.name for node in self.masters()))

    def do_replica(self, name):
        print(*(node.name for node in self.replicas(name)))

    def do_left(self):
        for node in self.masters():
            for key in sorted(node.call("KEYS", "*")):
                print(key)

    def do_begin(self, name, to):
        source, target = self.home(name), self.nodes[to]
        target.call("CLUSTER", "SETSLOT", slot_of(name), "IMPORTING", source.id)
        source.call("CLUSTER", "SETSLOT", slot_of(name), "MIGRATING", target.id)

    def do_keys(self, name, to, *keys):
        self.move(name, self.home(name), self.nodes[to], keys)

    @staticmethod
    def move(name, source, target, keys):
        keys = keys or source.call("CLUSTER", "GETKEYSINSLOT", slot_of(name), 1000)
        if keys:
            source.call("MIGRATE", target.host, target.port, "", 0, 5000, "REPLACE", "KEYS", *keys)

    def do_end(self, name, to):
        """Those that came since the others moved go first."""
        source, target, masters = self.home(name), self.nodes[to], self.masters()
        self.move(name, source, target, ())
        for node in (target, source, *masters):
            node.call("CLUSTER", "SETSLOT", slot_of(name), "NODE", target.id)

    def do_uncover(self):
        """No name of the tests has the slot."""
        self.until(self.is_uncovered, "down")

    def is_uncovered(self):
        """Again and again: a node may hear that another has it, in what that one said before."""
        for node in self.up:
            try:
                node.call("CLUSTER", "DELSLOTS", UNCOVERED)
            except OSError as error:  # it has learned of it already
                if "unassigned" not in str(error):
                    raise
        return not any(node.works() for node in self.masters())

    def do_cover(self):
        self.masters()[0].call("CLUSTER", "ADDSLOTS", UNCOVERED)
        self.until(lambda: all(node.works() for node in self.up), "up")


def main():
    directory, verb, *args = sys.argv[1:]
    getattr(Cluster(directory), f"do_{verb}")(*args)


if __name__ == "__main__":
    main()
