"""Servers of which one replaces the other: a master with two replicas and three Sentinels, and a
cluster of three masters with a replica each. Every server is on a host of its own.

One thing is broken at a time, and the next one when all is well again: what two at once do is beyond
what these promise."""
import collections
import contextlib
import os
import pathlib
import time

import network
from cluster import Cluster
from crew import NAME
from machine import wait_for
from redis_server import RedisServer, keeping
from sentinels import conf
from servers import Server, Topology

FAULTS = ("failed-over", "crashed", *network.FAULTS)
CLUSTER_FAULTS = ("resharded",)
ANY = "any server"   # what each fault of theirs claims
MASTER_SHARE = 0.7   # of those faults that may strike any server
START_S = 30         # until all follow, and are known
ASK_AGAIN_S = 2.5    # for a failover: a cluster's nodes vote only every two seconds


class Replicated(Topology):
    HOSTS = 0
    patience_s = 6  # for the one before to be over
    known_s = 0
    whole_at = None  # since when

    def __init__(self):
        self.network = network.Network(self.HOSTS)
        self.servers, self.proxies = [], []

    def close(self):
        super().close()
        self.network.close()

    def choose(self, fault):
        """The master of the lock, or another server."""
        master = self.master()
        if fault.name in (*FAULTS, *CLUSTER_FAULTS) or fault.choice < MASTER_SHARE:
            return master
        others = [number for number in range(len(self.servers)) if number != master]
        return others[int((fault.choice - MASTER_SHARE) / (1 - MASTER_SHARE) * len(others))]

    def claims(self, fault, number):
        return ANY

    def ready(self):
        """When all has been whole for long enough that every rlock knows."""
        try:
            whole = self.whole()
        except (OSError, ValueError):  # a failover under way closes connections, or nobody is named
            whole = False
        self.whole_at = (self.whole_at or time.monotonic()) if whole else None
        return whole and time.monotonic() >= self.whole_at + self.known_s

    def strike(self, fault, number):
        course = getattr(self, fault.name.replace("-", "_"), None)
        yield from course(fault, number) if course else super().strike(fault, number)
        self.whole_at = None
        while not self.ready():
            yield

    def await_whole(self):
        wait_for("the servers find together", self.ready, START_S)

    def is_replaced(self, number):
        """Whether the others know another master in its place."""
        try:
            return self.master(but=number) not in (number, None)
        except (OSError, ValueError):
            return False

    # --- faults ----------------------------------------------------------------------------------

    def crashed(self, fault, number):
        """It comes back when another one has taken over."""
        self.servers[number].stop()
        yield
        while not self.is_replaced(number):
            yield
        self.servers[number].start()
        fault.bites += 1

    def failed_over(self, fault, number):
        """As somebody has planned it: the old master lives."""
        asked = 0
        while not self.is_replaced(number):
            if time.monotonic() > asked + ASK_AGAIN_S:
                asked = time.monotonic()
                with contextlib.suppress(OSError):
                    self.order_failover(number)
            yield
        fault.bites += 1

    def cut(self, fault, number):
        """For a while, or until another one has taken over."""
        course = self.network.hosts[number].cut(fault)
        next(course)
        yield
        while int(fault.choice * 1000) % 2 and not self.is_replaced(number):
            yield
        yield from course

    cut_off = isolated = cut


def written(folder, lines):
    """The folder, made, and the name of a configuration file of these lines, which the server may rewrite."""
    os.makedirs(folder)
    path = pathlib.Path(folder, "conf")
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return folder, path


class Sentinels(Replicated):
    HOSTS, believed = 3, 1
    PACE = "INFO-PERIOD 500 PUBLISH-PERIOD 500 PING-PERIOD 400"  # the old master is demoted after 3 s, not 10

    def __init__(self, _, place):
        super().__init__()
        hosts = self.network.hosts
        self.places, watchers = ([(host.address, str(host.ports[which])) for host in hosts] for which in (0, 1))
        self.servers = [self.server(place, number) for number in range(self.HOSTS)]
        self.sentinels = [self.sentinel(place, number, watchers) for number in range(self.HOSTS)]
        for sentinel in self.sentinels:
            sentinel.call("SENTINEL", "DEBUG", *self.PACE.split())
        self.await_whole()
        self.url = "sentinel://" + ",".join(":".join(watcher) for watcher in watchers) + "/m"

    def server(self, place, number):
        lines = ["bind {}".format(self.places[number][0]), "port {}".format(self.places[number][1]),
                 "protected-mode no", 'save ""', "appendonly yes", "appendfsync always", "repl-diskless-sync-delay 0",
                 *(["replicaof {} {}".format(*self.places[0])] if number > 0 else [])]
        return Server(*written(f"{place.folder}/server{number + 1}", lines), library=place.clock,
                      launcher=self.network.hosts[number].launcher)

    def sentinel(self, place, number, watchers):
        lines = conf(number + 1, self.places[0], self.places[1:], watchers)
        return RedisServer(*written(f"{place.folder}/sentinel{number + 1}", lines), "--sentinel",
                           launcher=self.network.hosts[number].launcher)

    def close(self):
        for sentinel in self.sentinels:
            sentinel.stop()
        super().close()

    def named(self):
        """The master by each Sentinel."""
        return [self.places.index(tuple(sentinel.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "m")))
                for sentinel in self.sentinels]

    def master(self, but=None):
        """By most of them."""
        return collections.Counter(self.named()).most_common(1)[0][0]

    def order_failover(self, number):
        self.sentinels[number - 1].call("SENTINEL", "FAILOVER", "m")

    def whole(self):
        """All agree, everybody follows, and has all."""
        if len({*self.named()}) > 1:
            return False
        master, count = self.servers[self.master()], self.HOSTS - 1
        roles = [server.call("ROLE") for server in self.servers if server is not master]
        followed = [(*role[1:3], role[3]) for role in roles if role[0] == "slave"]
        place = self.places[self.master()]
        if followed != [(place[0], int(place[1]), "connected")] * count:
            return False
        master.call("PUBLISH", "probe", "0")
        return master.call("WAIT", count, 200) == count and all(map(self.knows_all, self.sentinels))

    def knows_all(self, sentinel):
        replicas = [dict(zip(row[::2], row[1::2])) for row in sentinel.call("SENTINEL", "REPLICAS", "m")]
        return sentinel.call("SENTINEL", "CKQUORUM", "m").startswith(f"OK {self.HOSTS}") and \
            [(row["flags"], row["master-link-status"]) for row in replicas] == [("slave", "ok")] * (self.HOSTS - 1)

    def leaders(self):
        return [self.servers[self.master()]]


class Shards(Replicated):
    HOSTS, believed = 6, 0
    known_s = 1.5  # a master that had no replica is asked for one each second: rlock-server(7)

    def __init__(self, _, place):
        super().__init__()
        self.folder = os.path.join(place.folder, "cluster")
        os.makedirs(self.folder)
        hosts = self.network.hosts
        Cluster(self.folder).files([(host.address, *host.ports) for host in hosts])
        self.servers = [self.server(place, number) for number in range(self.HOSTS)]
        cluster = Cluster(self.folder)
        cluster.do_takeover("n1", "n2", "n3")
        cluster.do_ready()
        self.url = "cluster://" + ",".join(f"{host.address}:{host.ports[0]}" for host in hosts)

    def server(self, place, number):
        folder = os.path.join(self.folder, f"n{number + 1}")
        with open(os.path.join(folder, "options"), encoding="ascii") as file:
            words = file.read().split()
        return Server(folder, *words, *keeping("always"),
                      library=place.clock, launcher=self.network.hosts[number].launcher)

    @staticmethod
    def number(node):
        return int(node.name[1:]) - 1

    def master(self, but=None):
        """Of the lock's slot, as somebody else sees it."""
        cluster = Cluster(self.folder)
        node = next(node for node in cluster.up if self.number(node) != but)
        node = cluster.serving(NAME, node.view())
        return node and self.number(node)

    def order_failover(self, number):
        for replica in Cluster(self.folder).replicas(f"n{number + 1}"):
            replica.call("CLUSTER", "FAILOVER")

    def whole(self):
        return Cluster(self.folder).whole()

    def leaders(self):
        return [self.servers[self.number(node)] for node in Cluster(self.folder).masters()]

    def resharded(self, fault, number):
        """The lock's slot goes to another master, as redis-cli and others do it: some of its keys
        before the others, and meanwhile it is asked for at both."""
        cluster = Cluster(self.folder)
        source = self.servers[number]
        target = [server for server in self.leaders() if server is not source][int(fault.choice * 2)]
        name = os.path.basename(target.folder)
        before = self.redirections(source, target)
        cluster.do_begin(NAME, name)
        if keys := source.call("CLUSTER", "GETKEYSINSLOT", source.call("CLUSTER", "KEYSLOT", NAME), 1):
            cluster.do_keys(NAME, name, *keys)
        yield
        while True:
            with contextlib.suppress(OSError):  # a key has come in between
                cluster.do_end(NAME, name)
                break
            yield
        fault.bites += self.redirections(source, target) - before

    @staticmethod
    def redirections(*servers):
        return sum(server.statistic("errorstats", f"errorstat_{kind}")
                   for server in servers for kind in ("MOVED", "ASK", "TRYAGAIN"))
