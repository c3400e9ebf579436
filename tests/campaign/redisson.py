"""A Java service with Redisson on the same locks, as tests/interop has it: its threads take them again
and again beside the rlocks of the round, and write the same history."""
import os
import pathlib
import threading
import time

import java
from crew import NAME, PERMITS
from machine import free_ports, wait_for
from redis_server import keeping
from servers import Server, Topology

SERVERS = {"redisson": 1, "redisson-cluster": 1, "redlock": 3}  # by topology; the cluster is one node
FAULTS = ("service-killed",)
# By kind: what each of its threads takes. RLock has no token, RFencedLock shares rlock's.
THREADS = {"run": ("lock", "fenced", "fenced"), "fair": ("fair", "fair"), "rw": ("rw", "rw"), "sem": ("permits", "permits"),
           "plain": ("sem", "sem")}
QUEUE, PATIENCE = f"redisson_lock_queue:{{{NAME}}}", f"redisson_lock_timeout:{{{NAME}}}"
BEGINS_S = 30
GLANCE_S = 0.3


def made(rlock):
    """The folders of jars and classes in the build of this rlock."""
    return java.made(pathlib.Path(rlock).resolve().parent.parent)


def possible(topology, kind):
    """Plain permits are there to be compared: who dies with one has it for ever."""
    return kind == "run" or (kind in THREADS and topology != "redlock")


class Mixed(Topology):
    """Servers that both come to by TCP. Nothing but processes of rlocks is struck, and the service itself: whoever
    waits for Redisson's watchdog, or its own patience, has no promise of ours."""

    patience_s = 20  # there may be no holder but Redisson's for a while, of a busy machine

    def __init__(self, name, place):
        ports = free_ports(SERVERS[name] + 1)
        bus = ("--cluster-enabled", "yes", "--cluster-port", str(ports.pop()), "--cluster-announce-ip", "127.0.0.1")
        self.servers = [Server(os.path.join(place.folder, f"server{port}"), "--bind", "127.0.0.1", "--port", str(port),
                               *keeping("always"), *(bus if "cluster" in name else ()), library=place.clock)
                        for port in ports]
        urls = [f"redis://127.0.0.1:{port}" for port in ports]
        self.proxies, self.wires, self.believed = [], place.wires, len(ports) // 2
        self.url, servers = " ".join(urls), "servers=" + ",".join(urls)
        if "cluster" in name:
            self.url, servers = self.url.replace("redis:", "cluster:"), servers.replace("servers", "cluster")
            self.servers[0].call("CLUSTER", "ADDSLOTS", *range(16384))
            wait_for("a cluster", lambda: "cluster_state:ok" in self.servers[0].call("CLUSTER", "INFO"))
        self.kinds = ("red", "red") if name == "redlock" else THREADS[place.kind]
        self.lease_ms, self.folder, self.seed = int(place.lease_s * 1000), place.folder, place.seed
        self.threads, self.failures, self.over = [], [], threading.Event()
        self.service = java.Service(made(place.rlock)[0], os.path.join(place.folder, "java.err"), servers,
                                    f"watchdog={self.lease_ms}")

    def begin(self):
        for number, kind in enumerate(self.kinds):
            lease_ms = 2 * self.lease_ms if kind == "permits" else -1  # nobody renews a permit
            order = f"rounds {kind} {NAME} seed={number} permits={PERMITS} lease={lease_ms}"
            self.threads.append(threading.Thread(target=self.go, args=(order,), daemon=True))
        if "fair" in self.kinds:
            self.threads.append(threading.Thread(target=self.bury, daemon=True))
        for thread in self.threads:
            thread.start()

    def go(self, order):
        """Again when it was killed, or when scripts were flushed just as Redisson had loaded its own. Another error: its
        lock was lost, say, be it to an rlock or to a machine too busy for the watchdog."""
        while not self.over.is_set():
            try:
                if self.service.ask(self.folder, order) is not None:
                    return
            except RuntimeError as error:
                if "RedisNoScriptException" not in str(error):
                    self.failures.append((str(error), time.monotonic_ns()))
                    return
            time.sleep(GLANCE_S)

    def bury(self):
        """Redisson's in a queue wait five minutes for those that are dead."""
        server = self.servers[0]
        while any(thread.is_alive() for thread in self.threads[:-1]):
            for owner in server.call("LRANGE", QUEUE, 0, -1):
                of_rlock, pid = "@" in owner, owner.rpartition(":")[2].partition("@")[0]
                if not (os.path.exists(f"/proc/{pid}") if of_rlock else owner.startswith(self.service.uuid)):
                    server.call("ZADD", PATIENCE, "XX", 1, owner)
            time.sleep(GLANCE_S)

    def claims(self, fault, number):
        """There is one service, and it starts anew before it is killed again."""
        return ("service", 0) if fault.name in FAULTS else super().claims(fault, number)

    def strike(self, fault, number):
        return self.killed(fault) if fault.name in FAULTS else super().strike(fault, number)

    def killed(self, fault):
        killer = threading.Thread(target=self.service.kill)
        killer.start()
        yield
        while killer.is_alive():
            yield
        fault.bites += 1

    def has_entered(self):
        with open(os.path.join(self.folder, "history"), encoding="utf-8") as file:
            return any(" exit=- " in line and "@" not in line for line in file)

    def end(self):
        """A service that was killed, and takes its time to begin again, has a lock to itself at last."""
        end_s = time.monotonic() + BEGINS_S
        while not self.has_entered() and any(thread.is_alive() for thread in self.threads) and time.monotonic() < end_s:
            time.sleep(GLANCE_S)
        self.over.set()
        with open(os.path.join(self.folder, "over"), "wb"):
            pass
        for thread in self.threads:
            thread.join()
        if not self.has_entered():
            self.failures.append(("no thread of Redisson's has entered", time.monotonic_ns()))

    def close(self):
        self.service.close()
        super().close()
