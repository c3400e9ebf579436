"""A redis-server of our own: what it is asked, what it counts, and what it costs."""
import os
import re
import subprocess
import tempfile
import time

from redis_server import RedisServer, keeping
from resp import Connection

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b"}
# What rlocks send, and we; all else is what scripts do.
SCRIPTS = {"eval", "evalsha"}
SENT = {"subscribe", "unsubscribe", "ssubscribe", "sunsubscribe", "hello", "auth", "select", "ping"}
OURS = ("info", "client|", "config|", "monitor", "echo", "flushdb")
DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")


def start(command, **options):
    """A process that ends with this one at the latest, whatever happens to it."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL} | options
    return subprocess.Popen([*DIES_WITH_US, *command], **options)


def end(process):
    process.kill()
    process.communicate()


class Server(RedisServer):
    """Runs while its `with` does."""

    def __init__(self, port=0):
        self.port = port
        super().__init__(tempfile.mkdtemp(dir=os.environ["TMPDIR"]), "--bind", "127.0.0.1", "--port", str(port),
                         *keeping(None), "--maxclients", "30000", "--tcp-backlog", "4096", launcher=DIES_WITH_US)
        self.url = os.environ["RLOCK_SERVER"] = f"unix://{self.socket}"

    def info(self, section):
        lines = self.call("INFO", section).splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def cpu_us(self):
        cpu = self.info("cpu")
        return (float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])) * 1e6

    def stats(self):
        """(command, calls, us) of each that was ever run."""
        for key, value in self.info("commandstats").items():
            numbers = re.match("calls=([0-9]+),usec=([0-9]+)", value).groups()
            yield key[len("cmdstat_"):], *map(int, numbers)

    def in_scripts_us(self):
        return sum(us for name, _, us in self.stats() if name in SCRIPTS)

    def calls(self):
        """(scripts, commands in scripts), all that were ever run."""
        scripts = inner = 0
        for name, count, _ in self.stats():
            if name in SCRIPTS:
                scripts += count
            elif name not in SENT and not name.startswith(OURS):
                inner += count
        return scripts, inner

    def listeners(self):
        return self.call("CLIENT", "LIST", "TYPE", "pubsub").count("\n")

    def connections(self):
        return int(self.info("clients")["connected_clients"])


class Monitor(Connection):
    """Sees what the server is asked from here on, scripts' own commands included."""

    def __init__(self, server):
        super().__init__(server.socket)
        self.server = server
        self("MONITOR")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def seen(self):
        """(words, whether a script said them), of all until now."""
        end = f"end {time.monotonic()}"
        self.server.call("ECHO", end)
        while True:
            source, words = re.match(r"[0-9.]+ \[\d+ ([^]]*)\] (.*)", self.receive(), re.S).groups()
            words = [unescape(word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', words)]
            if words == ["ECHO", end]:
                return
            yield words, source == "lua"

    def scripts(self):
        """The words of all scripts that were asked for."""
        return [words for words, inner in self.seen()
                if not inner and words[0].upper() in ("EVAL", "EVALSHA")]

    def costs(self):
        """(hash, commands in it) of each script that was run by its hash."""
        costs = []
        for words, inner in self.seen():
            if inner:
                costs[-1][1] += 1
            elif words[0].upper() in ("EVAL", "EVALSHA"):
                costs.append([words[1], 0])
        return costs


def unescape(text):
    return re.sub(r"\\(?:x([0-9a-f]{2})|(.))",
                  lambda at: chr(int(at[1], 16)) if at[1] else ESCAPES.get(at[2], at[2]), text)
