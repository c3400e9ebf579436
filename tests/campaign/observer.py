"""What a server says of the lock, asked a hundred times a second, past all proxies."""
import threading
import time

from resp import Server as Connection

# The server's time, the holders by their field with the end of the hash's lease, the read and
# write holds with the ends of theirs, the fair queue, the keys that never expire.
LOOK = """
local out, now = {}, redis.call('TIME')
for _, name in ipairs(redis.call('KEYS', '*')) do
    if redis.call('PTTL', name) == -1 then out[#out + 1] = name end
end
local hash = redis.call('TYPE', KEYS[1]).ok == 'hash'
return {now, redis.call('PTTL', KEYS[1]), hash and redis.call('HKEYS', KEYS[1]) or {},
        redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'), redis.call('LRANGE', KEYS[3], 0, -1), out}
"""


def clocks_apart_ns():
    """CLOCK_REALTIME less CLOCK_MONOTONIC."""
    return time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()


class Observer:
    def __init__(self, server, name, note_queued):
        self.server, self.note_queued = server, note_queued
        self.keys = (name, f"rlock_leases:{{{name}}}", f"redisson_lock_queue:{{{name}}}")
        self.lease_end = {}  # by owner: when, and when that was last seen, in ns on CLOCK_MONOTONIC
        self.queued, self.over = set(), threading.Event()
        self.without_end = {}  # by key: when it was first seen
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def close(self):
        self.over.set()
        self.thread.join()

    def watch(self):
        connection = None
        while not self.over.wait(0.01):
            try:
                connection = connection or Connection(self.server.socket)
                self.take(*connection.call("EVAL", LOOK, 3, *self.keys))
            except (OSError, ValueError):  # it is down, or has no room for us
                connection = None

    def take(self, now, ttl_ms, fields, leases, queue, without_end):
        apart = clocks_apart_ns()
        now_ns = (int(now[0]) * 1000000 + int(now[1])) * 1000 - apart
        for owner in fields:
            if owner != "mode" and ttl_ms >= 0:
                self.lease_end[owner.removesuffix(":write")] = now_ns + ttl_ms * 1000000, now_ns
        for hold, end_ms in zip(leases[::2], leases[1::2]):
            owner = hold.rpartition(":")[0].removesuffix(":write")
            self.lease_end[owner] = int(float(end_ms)) * 1000000 - apart, now_ns
        for key in without_end:
            self.without_end.setdefault(key, now_ns)
        for owner in set(queue) - self.queued:
            self.note_queued(owner)
        self.queued.update(queue)


def lease_ends(observers):
    """By owner: when a majority of the servers had forgotten it, and when that was seen."""
    owners = {owner for observer in observers for owner in observer.lease_end}
    ends = {}
    for owner in owners:
        known = sorted((each.lease_end.get(owner, (0, 0)) for each in observers), reverse=True)
        ends[owner] = known[len(observers) // 2]
    return ends
