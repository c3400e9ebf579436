"""One real redis-server, whose clock stands still, and on which one script at a time runs on a state.

The scripts are those that the library sends, byte for byte. What is not the real thing: the time of day is a
constant (clock.c), and time passes by moving all that Redis keeps as a time into the past, between two scripts
(keys.py). A channel has the set of those who listen in front of its name: the connection has subscribed to all
of these once, so that PUBLISH tells a script how many heard it, as it would if they had.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile

NOW = 1700000000  # s: the server's clock
RESTORE = """
redis.call('FLUSHDB')
local i = 1
while ARGV[i] do
    local words = tonumber(ARGV[i])
    redis.call(unpack(ARGV, i + 1, i + words))
    i = i + words + 1
end
"""
LOOK = """
local read = {string = {'GET'}, list = {'LRANGE', 0, -1}, hash = {'HGETALL'}, zset = {'ZRANGE', 0, -1, 'WITHSCORES'}}
local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
    local kind = redis.call('TYPE', key).ok
    all[#all + 1] = {key, kind, redis.call('PTTL', key), redis.call(read[kind][1], key, unpack(read[kind], 2))}
end
return cjson.encode(all)
"""
HERE = pathlib.Path(__file__).resolve().parent


class ScriptError(Exception):
    """The server's answer was an error."""


def packed(words):
    out = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word.encode("latin-1")
        out.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(out)


RESET, COUNT = packed(["CONFIG", "RESETSTAT"]), packed(["INFO", "commandstats"])


class Server:
    """Bytes are latin-1 text, one character a byte."""

    def __init__(self, program="redis-server"):
        self.folder = tempfile.mkdtemp(prefix="states.")
        clock = f"{self.folder}/clock.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", clock, str(HERE / "clock.c")], check=True)
        path = f"{self.folder}/sock"
        self.process = subprocess.Popen(
            [program, "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir", self.folder,
             "--enable-debug-command", "yes"],
            env={**os.environ, "LD_PRELOAD": clock, "STATES_CLOCK": str(NOW)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL)
        self.sock = self.connected(path)
        self.file = self.sock.makefile("rb")
        self.messages = []
        self("HELLO", "3")
        self("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        self.version = re.search(r"(?:redis|valkey)_version:(\S+)", self("INFO", "server"))[1]
        self.hashes = {}
        self.restore, self.look = self.load(RESTORE), self.load(LOOK)

    def connected(self, path):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(30)
        while self.process.poll() is None:
            try:
                sock.connect(path)
                return sock
            except (FileNotFoundError, ConnectionRefusedError):
                pass
        raise SystemExit("redis-server did not start")

    def close(self):
        self.file.close()
        self.sock.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read(self):
        """One reply; a message is put aside."""
        while True:
            line = self.file.readline()
            sign, rest = line[:1], line[1:-2]
            if sign in (b"$", b"="):
                return self.file.read(int(rest) + 2)[:-2].decode("latin-1")
            if sign == b":":
                return int(rest)
            if sign == b"*":
                return [self.read() for _ in range(int(rest))]
            if sign == b"%":
                return {self.read(): self.read() for _ in range(int(rest))}
            if sign == b"-":
                return ScriptError(rest.decode("latin-1"))
            if sign == b"_":
                return None
            if sign != b">":
                return rest.decode("latin-1")
            words = [self.read() for _ in range(int(rest))]
            if words[0] == "message":
                self.messages.append((words[1], words[2]))

    def __call__(self, *words):
        self.sock.sendall(packed(words))
        return self.read()

    def load(self, text):
        return self("SCRIPT", "LOAD", text)

    def listen(self, channels):
        """To all of them, from here on. The confirmations are messages."""
        self.sock.sendall(packed(["SUBSCRIBE", *channels]))
        if self("PING") != "PONG":
            raise ConnectionError("no PONG")

    def run(self, questions):
        """Scripts, each on a state of its own: (the state, as words of commands, a count before each; the script's hash;
        its words). Yields of each its answer, what was said (channel, text), what stands then: [key, type, ms to live,
        value], and how many commands it took."""
        self.sock.sendall(b"".join(
            packed(["EVALSHA", self.restore, "0", *state]) + RESET + packed(["EVALSHA", sha1, *words]) + COUNT
            + packed(["EVALSHA", self.look, "0"]) for state, sha1, words in questions))
        for _ in questions:
            self.messages.clear()
            replies = [self.read() for _ in range(5)]
            for each in replies:
                if isinstance(each, ScriptError):
                    raise each
            counts = re.findall(r"cmdstat_(?!evalsha|config)[^:]*:calls=([0-9]+)", replies[3])
            yield replies[2], list(self.messages), json.loads(replies[4]), sum(map(int, counts))
