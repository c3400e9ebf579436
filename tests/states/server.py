"""One real redis-server, whose clock stands still, and on which one script at a time runs on a state.

The scripts are those that the library sends, byte for byte. What is not the real thing: the time of day is a
constant (clock.c), and time passes by moving all that Redis keeps as a time into the past, between two scripts
(keys.py). A channel has the set of those who listen in front of its name: the connection has subscribed to all
of these once, so that PUBLISH tells a script how many heard it, as it would if they had.
"""
import json
import re
import shutil
import tempfile

from client import LOOK
from machine import library
from redis_server import ALONE, RedisServer, debugged, keeping
from resp import packed

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
RESET, COUNT = packed(["CONFIG", "RESETSTAT"]), packed(["INFO", "commandstats"])


class Server(RedisServer):
    def __init__(self):
        folder = tempfile.mkdtemp(prefix="states.")
        super().__init__(folder, *ALONE, *keeping(None), *debugged(), clock=(library("clock", folder), f"@{NOW}"))
        self.call("HELLO", "3")
        self.call("DEBUG", "SET-ACTIVE-EXPIRE", "0")
        self.version = re.search(r"(?:redis|valkey)_version:(\S+)", self.call("INFO", "server"))[1]
        self.restore, self.look = self.load(RESTORE), self.load(LOOK)

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder)

    def load(self, text):
        return self.call("SCRIPT", "LOAD", text)

    def listen(self, channels):
        """To all of them, from here on. The confirmations are messages."""
        self.connection.send("SUBSCRIBE", *channels)
        self.call("PING")

    def run(self, questions):
        """Scripts, each on a state of its own: (the state, as words of commands, a count before each; the script's hash;
        its words). Yields of each its answer, what was said (channel, text), what stands then: [key, type, ms to live,
        value], and how many commands it took."""
        receive, messages = self.connection.receive, self.connection.messages
        self.connection.sock.sendall(b"".join(
            packed(["EVALSHA", self.restore, "0", *state]) + RESET + packed(["EVALSHA", sha1, *words]) + COUNT
            + packed(["EVALSHA", self.look, "0"]) for state, sha1, words in questions))
        for _ in questions:
            messages.clear()
            replies = [receive() for _ in range(5)]
            counts = re.findall(r"cmdstat_(?!evalsha|config)[^:]*:calls=([0-9]+)", replies[3])
            yield replies[2], list(messages), json.loads(replies[4]), sum(map(int, counts))
