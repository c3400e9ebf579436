"""A redis-server of our own on a Unix socket, which may be stopped and started again."""
import functools
import math
import os
import re
import subprocess

from machine import wait_for
from resp import Connection

LIMIT_S, TRIES = 20, 5
ALONE = "--port", "0"
# jemalloc's thread sleeps until a time by our clock, and by the machine's that has passed: it would never sleep.
CLOCKED = "--jemalloc-bg-thread", "no"


@functools.cache
def version():
    """Of the redis-server here, (6, 2); a Valkey has all that any Redis has."""
    said = subprocess.run(["redis-server", "--version"], capture_output=True, text=True, check=True).stdout
    return (math.inf,) if said.startswith("Valkey") else tuple(map(int, re.search(r"v=(\d+)\.(\d+)", said).groups()))


def debugged():
    """The words of one that takes DEBUG."""
    return ("--enable-debug-command", "local") if version() >= (7, 0) else ()  # Redis 6 asks for nothing


def keeping(fsync):
    """The words of one that keeps everything; fsync: always, everysec or no. None: of one that keeps nothing."""
    return "--save", "", *(("--appendonly", "yes", "--appendfsync", fsync) if fsync else ("--appendonly", "no"))


class RedisServer:
    """folder: where its socket, its data and its log are. words: of its command line; launcher: what
    is to become redis-server; clock: (the library of clock.c, what it is told)."""

    def __init__(self, folder, *words, launcher=(), clock=None):
        self.folder = os.path.abspath(folder)
        self.socket, self.connection = os.path.join(self.folder, "sock"), None
        self.command = [*launcher, "redis-server", *words, *(CLOCKED if clock else ()), "--unixsocket", self.socket,
                        "--dir", self.folder, "--logfile", os.path.join(self.folder, "log")]
        self.env = {**os.environ, **(dict(zip(("LD_PRELOAD", "CLOCK"), clock)) if clock else {})}
        os.makedirs(self.folder, exist_ok=True)
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, env=self.env)
        with open(os.path.join(self.folder, "pid"), "w", encoding="ascii") as file:
            file.write(str(self.process.pid))
        wait_for(f"an answer from {self.socket}", self.answers, LIMIT_S)

    def answers(self):
        try:
            return self.call("PING") == "PONG"
        except OSError:  # not there yet, or loading
            return False

    def call(self, *words):
        """Over a connection that stays, or another one when somebody has closed it."""
        for _ in range(TRIES):
            try:
                self.connection = self.connection or Connection(self.socket)
                return self.connection.call(*words)
            except ConnectionError:
                self.connection = None
            except TimeoutError:  # its answer may come yet, to the next question
                self.connection = None
                raise
        raise OSError(f"no connection to {self.socket} lives")

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """As by a crash."""
        self.process.kill()
        self.process.wait()
        self.connection = None
        if os.path.exists(self.socket):
            os.unlink(self.socket)
