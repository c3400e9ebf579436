"""rlock's scripts called as the library calls them, and what they leave in Redis read back.

Keys and channels are written down here as rlock-internals(7) has them, not taken from the library. Bytes are
latin-1 text, one character a byte, so that permit ids and names are the same thing.
"""
import json
import os
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
from resp import Connection, ServerError  # noqa: E402, F401

# Replies, by lua/include/base.lua.
GRANTED, REENTERED, BUSY, WRONG_KIND, REFUSED, OUSTED, DONE = 1, 2, 0, -1, -2, -3, -5
KEPT, RELEASED, STILL_HELD, LOST = 1, 1, 2, 0


def common(fourth):
    return ["*", "redisson_lock_token:{*}", "rlock_info:{*}", fourth, "rlock_waiters:{*}", "rlock_beats:{*}",
            "rlock_queuers:{*}"]


MUTEX = common("rlock_leases:{*}") + ["redisson_lock_queue:{*}", "redisson_lock_timeout:{*}", "rlock_queue:{*}",
                  "rlock_queue_beats:{*}"]
RW = common("rlock_leases:{*}") + ["{*}:wait_write", "rlock_writers:{*}", "rlock_writer_beats:{*}", "rlock_told:{*}"]
LATCH = common("rlock_hold:{*}") + ["{*}:timeout"]
SEM = LATCH + ["rlock_wants:{*}"]
KINDS = {  # name: scripts to take, renew and give back; keys; channel
    "run": ("mutex_acquire", "mutex_renew", "mutex_release", MUTEX, "redisson_lock__channel:{*}"),
    "fair": ("fair_acquire", "mutex_renew", "mutex_release", MUTEX, "redisson_lock__channel:{*}"),
    "read": ("read_acquire", "rw_renew", "rw_release", RW, "redisson_rwlock:{*}"),
    "write": ("write_acquire", "rw_renew", "rw_release", RW, "redisson_rwlock:{*}"),
    "sem": ("sem_acquire", "sem_renew", "sem_release", SEM, "redisson_sc:{*}"),
    "plain": ("sem_acquire", None, "sem_release", SEM, "redisson_sc:{*}"),
    "latch": ("latch_acquire", None, None, LATCH, "redisson_countdownlatch__channel__{*}"),
}

YEAR = 31536000000  # ms: in place of a lease where there is none

# A newer server (Redis 8) asked about a command with fewer words than it takes, or more, ends the script; an
# older one answers. Here every server is a newer one.
MAY = ", redis.acl_check_cmd, KEYS[1])"
STRICT = """, (function(command, ...)
    local arity, words = ({%s})[string.lower(command)], 1 + select('#', ...)
    if arity > 0 and words ~= arity or words < -arity then error(command .. ' has been asked for with ' .. words .. ' words') end
    return redis.acl_check_cmd(command, ...)
end), KEYS[1])"""

LOOK = """
local read = {string = {'GET'}, list = {'LRANGE', 0, -1}, hash = {'HGETALL'}, set = {'SMEMBERS'},
    zset = {'ZRANGE', 0, -1, 'WITHSCORES'}}
local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
    local kind = redis.call('TYPE', key).ok
    local how = read[kind] or {'EXISTS'}
    all[#all + 1] = {key, kind, redis.call('PTTL', key), redis.call(how[1], key, unpack(how, 2))}
end
return cjson.encode(all)
"""

# All that is kept as a time moves into the past: keys' expiries, scores, fields that are epoch ms.
PASS = """
local ms = tonumber(ARGV[1])
for _, key in ipairs(redis.call('KEYS', '*')) do
    local kind, left = redis.call('TYPE', key).ok, redis.call('PTTL', key)
    local in_line = string.match(key, '^rlock_waiters:') or string.match(key, '^rlock_queue:')
        or string.match(key, '^rlock_writers:') -- tickets are no times to come, and those who have them know them
    local members = kind == 'zset' and not in_line and redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') or {}
    for i = 1, #members, 2 do redis.call('ZINCRBY', key, -ms, members[i]) end
    for _, field in ipairs(kind == 'hash' and redis.call('HKEYS', key) or {}) do
        local value = redis.call('HGET', key, field)
        local state, since = string.match(value, '^(%l* ?)(%d+)$') -- of a front, or a time alone
        if since and #since == 13 then
            redis.call('HSET', key, field, state .. string.format('%.0f', since - ms))
        end
    end
    if left >= 0 then redis.call('PEXPIRE', key, left - ms) end
end
"""


class Server(Connection):
    """One connection, and what stands on its server."""

    arities = ""
    OUTSIDE = ("info", "evalsha", "script|load")  # of what is called by us, not by a script

    def __init__(self, path):
        super().__init__(path)
        self.hashes = {}
        if not Server.arities:  # of the commands without subcommands, as Lua writes a table
            Server.arities = ",".join(f"['{name}']={arity}" for name, arity, *_ in self("COMMAND"))

    def hash_of(self, path):
        if path not in self.hashes:
            with open(path, encoding="latin-1") as file:
                script = file.read().replace(MAY, STRICT % Server.arities)
                self.hashes[path] = self("SCRIPT", "LOAD", script)
        return self.hashes[path]

    def commands(self):
        """How many of them all scripts together have run."""
        stats = re.findall(r"cmdstat_([^:]+):calls=(\d+)", self("INFO", "commandstats"))
        return sum(int(calls) for name, calls in stats if name not in Server.OUTSIDE)

    def now(self):
        seconds, micros = self("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    def see(self):
        """All keys at one instant: {key: (value as python has it, ms to live; -1: for ever)}."""
        seen = {}
        for key, kind, left, value in json.loads(self("EVAL", LOOK, 0)):
            if kind in ("hash", "zset"):
                value = dict(zip(value[::2], value[1::2]))
            if kind == "zset":
                value = {member: float(score) for member, score in value.items()}
            seen[key] = (value, left)
        return seen

    def value(self, key):
        return self.see().get(key, (None, -2))[0]

    def left(self, key):
        return self("PTTL", key)

    def let_pass(self, ms):
        """Time, without waiting for it: see PASS."""
        self("EVAL", PASS, 0, ms)

    def keys(self):
        """All but tokens, which stay."""
        return {key for key in self("KEYS", "*") if not key.startswith("redisson_lock_token:")}


class Listener(Connection):
    """A connection that hears channels."""

    def __init__(self, path):
        super().__init__(path)
        self("HELLO", "3")

    def listen(self, *channels, verb="SUBSCRIBE"):
        for channel in channels:
            self.send(verb, channel)
        self("PING")

    def deafen(self, *channels):
        self.listen(*channels, verb="UNSUBSCRIBE")

    def heard(self):
        """All that was said since the last look: what was published before is here before PONG."""
        self("PING")
        heard, self.messages = self.messages, []
        return heard


class Lock:
    """One name, as one kind of lock."""

    total = ""  # permits of a semaphore, which the first to take some says

    def __init__(self, server, kind, name="x"):
        self.server, self.kind, self.name = server, kind, name
        self.take_script, self.renew_script, self.give_script, keys, channel = KINDS[kind]
        self.record = self.key("rlock_last:{*}")
        self.keys = [self.key(pattern) for pattern in keys]
        always_braces = kind == "latch"
        self.channel = channel.replace("*", name) if always_braces else self.key(channel)

    def key(self, pattern):
        if "{" in self.name:
            pattern = pattern.replace("{", "").replace("}", "")
        return pattern.replace("*", self.name)

    def own_channel(self, owner):
        return f"{self.channel}:{owner}"

    def run(self, script, owner, lease, attempt, permits, *more, record=False):
        """One script, by its hash; its answer."""
        sha1 = self.server.hash_of(f"{os.environ['SCRIPTS']}/{script}.lua")
        lease = YEAR if self.kind == "plain" else lease
        leases = [self.key(f"{{*}}:{owner}:rwlock_timeout:1")] if self.kind in ("read", "write") else []
        keys = [*self.keys, *leases, *[self.record] * record, self.key(f"rlock_tombstone:{attempt[:32]}:{{*}}")]
        nth_try = "" if "." in attempt or not attempt else ".1"
        return self.server("EVALSHA", sha1, len(keys), *keys, owner, lease, attempt + nth_try, permits,
                           f"PUBLISH {self.channel}", "1", *more)

    def take(self, owner, attempt, lease=30000, permits=1, proof=("", ""), wait=True, total=None,
             variant="", place="", ticket="", period="", preempts_as="", preemptible=False, once_key="",
             priority=0, waited=""):
        us = f'"host":"host","pid":42,"user":"user","command":"command","permits":{permits}'
        us += ',"preemptible":true' if preemptible else ""
        total = self.total if total is None else total
        more = [total, variant, *proof, place, ticket, period, preempts_as, once_key, priority or "", waited]
        while more and more[-1] == "":
            more.pop()
        return self.run(self.take_script, owner, lease, attempt, permits, int(wait), us, *more,
                        record=period != "" or once_key != "")

    def renew(self, owner, attempt, lease=30000, permits=1):
        return self.run(self.renew_script, owner, lease, attempt, permits)

    def restore(self, owner, attempt, token, lease=30000, inner=False, command="command"):
        script = "mutex_restore" if self.kind == "run" else "rw_restore"
        us = f'"host":"host","pid":42,"user":"user","command":"{command}","permits":1'
        return self.run(script, owner, lease, attempt, 1, token, us, "1" if inner else "", "1" if self.kind == "read" else "")

    def give(self, owner, attempt, lease=30000, permits=1, keep=0, waiter=None, ended=None, astray=False, once_key="",
             priority=0):
        """ended: of a run with --once-per its period, exit status and duration."""
        period, status, took, key = (*(ended or ("", "", "")), once_key)
        us = '"host":"host","pid":42,"user":"user","command":"command","permits":1' if ended else ""
        more = [status, keep or "", waiter or "", "1" if astray else "", period, took, us, key, priority or ""]
        while more and more[-1] == "":
            more.pop()
        return self.run(self.give_script, owner, lease, attempt, permits, *more, record=self.kind in ("run", "fair"))

    def token(self):
        return int(self.server("GET", self.keys[1]) or 0)

    def holder_shown(self, owner):
        shown = self.server("HGET", self.keys[2], owner)
        return json.loads(shown) if shown else None
