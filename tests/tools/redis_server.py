"""A redis-server of our own on a Unix socket, which keeps its data on disk and may be stopped and
started again."""
import os
import subprocess
import time

from resp import Server as Connection

LIMIT_S, TRIES = 20, 5


class RedisServer:
    """folder: where its socket, its data and its log are. words: of its command line; launcher: what
    is to become redis-server; env: what it finds in its environment besides."""

    def __init__(self, folder, *words, launcher=(), env=None):
        self.folder = os.path.abspath(folder)
        self.socket, self.connection = os.path.join(self.folder, "sock"), None
        self.command = [*launcher, "redis-server", *words, "--unixsocket", self.socket, "--dir", self.folder,
                        "--logfile", os.path.join(self.folder, "log")]
        self.env = {**os.environ, **(env or {})}
        os.makedirs(self.folder, exist_ok=True)
        self.start()

    @staticmethod
    def keeping(fsync):
        """The words of one that has no port and keeps everything; fsync: always, everysec or no."""
        return "--port", "0", "--save", "", "--appendonly", "yes", "--appendfsync", fsync

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, env=self.env)
        with open(os.path.join(self.folder, "pid"), "w", encoding="ascii") as file:
            file.write(str(self.process.pid))
        until = time.monotonic() + LIMIT_S
        while not self.answers():
            if time.monotonic() > until:
                raise TimeoutError(f"no answer from {self.socket}")
            time.sleep(0.01)

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
