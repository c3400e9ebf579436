"""The servers that a round plays on, and the ways in which they fail."""
import os
import signal
import subprocess
import time

from resp import Server as Connection

FAULTS = ("paused", "restarted", "scripts-flushed", "clients-killed", "memory-full", "clients-full")


class Server:
    """A redis-server on a Unix socket that keeps everything on disk."""

    def __init__(self, folder):
        self.folder, self.socket = folder, os.path.join(folder, "sock")
        os.makedirs(folder)
        self.start()

    def start(self):
        with open(os.path.join(self.folder, "out"), "ab") as out:
            self.process = subprocess.Popen(
                ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
                 "--appendonly", "yes", "--appendfsync", "always", "--dir", self.folder],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        until = time.monotonic() + 20
        while True:
            try:
                self.admin = Connection(self.socket)
                if self.admin.call("PING") == "PONG":
                    return
            except OSError:
                if time.monotonic() > until:
                    raise
            time.sleep(0.01)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def signal(self, number):
        os.kill(self.process.pid, number)

    def statistic(self, section, name):
        for line in self.admin.call("INFO", section).splitlines():
            if line.startswith(name + ":"):
                return int(line.partition(":")[2].rpartition("=")[2])
        return 0

    # --- faults: each begins, and ends with the number of times that it bit ----------------------

    def begin(self, fault):
        if fault == "paused":
            self.signal(signal.SIGSTOP)
        elif fault == "restarted":
            self.stop()
        elif fault == "memory-full":
            self.before = self.statistic("errorstats", "errorstat_OOM")
            self.admin.call("CONFIG", "SET", "maxmemory", "1")
        elif fault == "clients-full":
            self.before = self.statistic("stats", "rejected_connections")
            self.admin.call("CONFIG", "SET", "maxclients", "1")
            self.admin.call("CLIENT", "KILL", "TYPE", "normal")
        elif fault == "scripts-flushed":
            self.before = self.statistic("errorstats", "errorstat_NOSCRIPT")
            self.admin.call("SCRIPT", "FLUSH")
        elif fault == "clients-killed":
            self.before = -self.admin.call("CLIENT", "KILL", "TYPE", "normal") \
                - self.admin.call("CLIENT", "KILL", "TYPE", "pubsub")

    def end(self, fault):
        if fault == "paused":
            self.signal(signal.SIGCONT)
        elif fault == "restarted":
            self.start()
        elif fault == "memory-full":
            self.admin.call("CONFIG", "SET", "maxmemory", "0")
            return self.statistic("errorstats", "errorstat_OOM") - self.before
        elif fault == "clients-full":
            self.admin.call("CONFIG", "SET", "maxclients", "4064")
            return self.statistic("stats", "rejected_connections") - self.before
        elif fault == "scripts-flushed":
            return self.statistic("errorstats", "errorstat_NOSCRIPT") - self.before
        elif fault == "clients-killed":
            return -self.before
        return 1


class Topology:
    """socket: a server on its socket. tcp: through a proxy. quorum3, quorum5: that many, each so."""

    NAMES = ("socket", "tcp", "quorum3", "quorum5")

    def __init__(self, name, folder, wires, seed, lease_s):
        count = int(name[6:]) if name.startswith("quorum") else 1
        self.wires, self.proxies = wires, []
        self.servers = [Server(os.path.join(folder, f"server{i}")) for i in range(1, count + 1)]
        if name == "socket":
            self.url = "unix://" + self.servers[0].socket
            return
        self.proxies = [wires.proxy(server.socket, f"{seed} wire {i}", lease_s)
                        for i, server in enumerate(self.servers)]
        self.url = " ".join(f"redis://127.0.0.1:{proxy.port}" for proxy in self.proxies)

    def close(self):
        for proxy in self.proxies:
            self.wires.do(proxy.close())
        for server in self.servers:
            server.stop()
