"""A redis-server of our own: what it is asked, what it counts, and what it costs."""
import os
import re
import subprocess
import tempfile

from redis_server import RedisServer, keeping

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

    def scripts(self, act):
        """The words of all scripts that are asked for meanwhile, as its log of slow commands has them."""
        self.call("CONFIG", "SET", "slowlog-log-slower-than", "0")
        self.call("SLOWLOG", "RESET")
        act()
        self.call("CONFIG", "SET", "slowlog-log-slower-than", "-1")
        logged = [entry[3] for entry in reversed(self.call("SLOWLOG", "GET", "128"))]
        return [words for words in logged if words[0].lower() in SCRIPTS]

    def listeners(self):
        return self.call("CLIENT", "LIST", "TYPE", "pubsub").count("\n")
