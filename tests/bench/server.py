"""A redis-server of our own: what it is asked, what it counts, and what it costs."""
import os
import re
import subprocess
import tempfile
import time

from redis_server import RedisServer, keeping
from resp import Connection

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b"}
SCRIPTS = "eval", "evalsha"
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

    def in_scripts_us(self):
        known = self.info("commandstats")
        return sum(int(re.search("usec=([0-9]+)", known[f"cmdstat_{name}"])[1]) for name in SCRIPTS if f"cmdstat_{name}" in known)

    def listeners(self):
        return self.call("CLIENT", "LIST", "TYPE", "pubsub").count("\n")


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

    def scripts(self):
        """The words of all scripts that were asked for until now."""
        end = f"end {time.monotonic()}"
        self.server.call("ECHO", end)
        while True:
            source, words = re.match(r"[0-9.]+ \[\d+ ([^]]*)\] (.*)", self.receive(), re.S).groups()
            words = [unescape(word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', words)]
            if words == ["ECHO", end]:
                return
            if source != "lua" and words[0].lower() in SCRIPTS:
                yield words


def unescape(text):
    return re.sub(r"\\(?:x([0-9a-f]{2})|(.))",
                  lambda at: chr(int(at[1], 16)) if at[1] else ESCAPES.get(at[2], at[2]), text)
