"""What a server says of the lock, asked again and again, past all proxies; and how the machine is."""
import bisect
import collections
import itertools
import os
import threading
import time

from resp import Connection

EVERY_S = 0.01  # of one server; of several each is asked so much less often
STEP_NS = 500_000_000
# The server's time; who holds it with the end of each lease, in epoch ms; who waits in the order
# of their coming: the fair queue, or the writers; all who stand in any line; the keys that never expire.
LOOK = """
local name, kind, now, forever = KEYS[1], ARGV[1], redis.call('TIME'), {}
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
for _, each in ipairs(redis.call('KEYS', '*')) do
    if redis.call('PTTL', each) == -1 then forever[#forever + 1] = each end
end
local side, held = '{' .. name .. '}', {}
local function holds(owner, ends)
    held[#held + 1] = owner
    held[#held + 1] = ends
end
local lock = redis.call('TYPE', name).ok
if lock == 'hash' then
    local leases, known = redis.call('ZRANGE', 'rlock_leases:' .. side, 0, -1, 'WITHSCORES'), {}
    for i = 1, #leases, 2 do
        local field = string.match(leases[i], '^(.*) ')
        if redis.call('HEXISTS', name, field) == 1 then
            holds((string.gsub(field, ':write$', '')), leases[i + 1])
            known[field] = true
        end
    end
    for _, field in ipairs(redis.call('HEXISTS', name, 'mode') == 0 and redis.call('HKEYS', name) or {}) do
        if not known[field] then holds(field, now_ms + redis.call('PTTL', name)) end
    end
elseif kind == 'sem' then
    local known = redis.call('HGETALL', 'rlock_hold:' .. side)
    for i = 1, #known, 2 do
        local id = string.find(known[i], '@') and string.match(known[i + 1], '^%d+ (%x+) %d+$')
        local permit = id and string.gsub(id, '%x%x', function(byte) return string.char(tonumber(byte, 16)) end)
        local ends = permit and redis.call('ZSCORE', side .. ':timeout', permit)
        if ends then holds(known[i], ends) end
    end
end
local queue = kind == 'rw' and redis.call('ZRANGE', 'rlock_writers:' .. side, 0, -1)
    or redis.call('LRANGE', 'redisson_lock_queue:' .. side, 0, -1)
local places = {}
for _, line in ipairs({'rlock_waiters:', 'rlock_queue:', 'rlock_writers:'}) do
    for _, owner in ipairs(redis.call('ZRANGE', line .. side, 0, -1)) do places[#places + 1] = owner end
end
return {now, held, queue, places, forever}
"""


def clocks_apart_ns():
    """CLOCK_REALTIME less CLOCK_MONOTONIC."""
    return time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()


# What was so at some instant between asked_ns and told_ns. held: when by the server's count the lease of each holder ends;
# not of those whose lease is over.
Sample = collections.namedtuple("Sample", "asked_ns told_ns held places")


class Hold:
    """Of one owner on one server, from no earlier than after_ns; seen at first_ns and last_ns, gone at
    gone_ns (None: not seen). end_ns: of its lease, when it was last seen."""

    def __init__(self, owner, after_ns, first_ns):
        self.owner, self.after_ns, self.first_ns = owner, after_ns, first_ns
        self.last_ns, self.gone_ns, self.end_ns = first_ns, None, 0


def stepped_ns(now):
    """By how much the server's clock is ahead; it is set by multiples of STEP_NS."""
    ahead_ns = (int(now[0]) * 1000000 + int(now[1])) * 1000 - time.time_ns()
    return round(ahead_ns / STEP_NS) * STEP_NS


class Observer:
    def __init__(self, server, name, kind, note_queued, every_s=EVERY_S):
        self.server, self.name, self.kind, self.note_queued = server, name, kind, note_queued
        self.every_s = every_s
        self.lease_end = {}  # by owner: when, and when that was last seen, in ns on CLOCK_MONOTONIC
        self.samples = []
        self.queued, self.over = set(), threading.Event()
        self.without_end = {}  # by key: when it was first seen
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def close(self):
        self.over.set()
        self.thread.join()

    def watch(self):
        connection = None
        while not self.over.wait(self.every_s):
            try:
                connection = connection or Connection(self.server.socket)
                asked_ns = time.monotonic_ns()
                self.take(asked_ns, *connection.call("EVAL", LOOK, 1, self.name, self.kind))
            except (OSError, ValueError):  # it is down, or has no room for us
                connection = None

    def take(self, asked_ns, now, held, queue, places, without_end):
        told_ns, apart = time.monotonic_ns(), clocks_apart_ns() + stepped_ns(now)
        now_ns = (int(now[0]) * 1000000 + int(now[1])) * 1000 - apart
        live = {}
        for owner, end_ms in zip(held[::2], held[1::2]):
            end_ns = int(float(end_ms)) * 1000000 - apart
            if end_ns > now_ns:
                live[owner] = max(end_ns, live.get(owner, 0))
        self.lease_end.update((owner, (end_ns, now_ns)) for owner, end_ns in live.items())
        self.samples.append(Sample(asked_ns, told_ns, live, frozenset(places)))
        for key in without_end:
            self.without_end.setdefault(key, now_ns)
        for owner in set(queue) - self.queued:
            self.note_queued(owner)
        self.queued.update(queue)

    def holds(self):
        """All that were seen, each from its beginning to its end."""
        open_holds, asked_ns = {}, 0
        for sample in self.samples:
            for owner in [owner for owner in open_holds if owner not in sample.held]:
                open_holds[owner].gone_ns = sample.told_ns
                yield open_holds.pop(owner)
            for owner, end_ns in sample.held.items():
                hold = open_holds.setdefault(owner, Hold(owner, asked_ns, sample.told_ns))
                hold.last_ns, hold.end_ns = sample.asked_ns, end_ns
            asked_ns = sample.asked_ns
        yield from open_holds.values()

    def samples_between(self, begin_ns, end_ns):
        """Those that were taken within."""
        first = bisect.bisect_left(self.samples, begin_ns, key=lambda sample: sample.asked_ns)
        for sample in itertools.islice(self.samples, first, None):
            if sample.told_ns > end_ns:
                return
            yield sample

    def free(self, is_free):
        """(from, to, owners) while that was true of the owners that held it."""
        for was_free, samples in itertools.groupby(self.samples, lambda sample: is_free(sample.held)):
            samples = [*samples]
            if was_free:
                yield samples[0].told_ns, samples[-1].asked_ns, set().union(*(each.held for each in samples))


class Pulse:
    """When the machine was too busy to let us run: proxies and servers stood still then as well, as if by a
    fault of all."""

    EVERY_S, STALL_S = 0.01, 0.04
    # Of the machine, at which any process may be the one that does not run:
    LOAD = float(os.environ.get("CAMPAIGN_LOAD", 12)) * os.cpu_count()

    def __init__(self):
        self.stalls, self.over = [], threading.Event()  # (from, to)
        self.begun_ns, self.load = time.monotonic_ns(), os.getloadavg()[0]
        self.thread = threading.Thread(target=self.beat, daemon=True)
        self.thread.start()

    def beat(self):
        before_ns = time.monotonic_ns()
        while not self.over.wait(self.EVERY_S):
            now_ns = time.monotonic_ns()
            if now_ns - before_ns > self.STALL_S * 1e9:
                self.stalls.append((before_ns, now_ns))
            before_ns = now_ns

    def note_slow(self, observers, struck):
        """An answer that took so long is a sign of it, too, but for times when servers were struck; and so is the
        machine's load."""
        if max(self.load, os.getloadavg()[0]) > self.LOAD:
            self.stalls.append((self.begun_ns, time.monotonic_ns()))
        self.stalls += [(sample.asked_ns, sample.told_ns) for observer in observers for sample in observer.samples
                        if sample.told_ns - sample.asked_ns > self.STALL_S * 1e9
                        and not any(begin < sample.told_ns and end > sample.asked_ns for begin, end in struck)]

    def stalled(self, begin_ns, end_ns, at_least_s=STALL_S):
        return any(begin < end_ns and end > begin_ns and end - begin > at_least_s * 1e9
                   for begin, end in self.stalls)

    def stood_still_ns(self, begin_ns, end_ns):
        """Of what was seen of it."""
        return sum(min(end, end_ns) - max(begin, begin_ns) for begin, end in self.stalls
                   if begin < end_ns and end > begin_ns)

    def close(self):
        self.over.set()
        self.thread.join()


def lease_ends(observers, believed):
    """By owner: when it ended on all but so many servers, who are believed, and when that was seen."""
    owners = {owner for observer in observers for owner in observer.lease_end}
    ends = {}
    for owner in owners:
        known = sorted((each.lease_end.get(owner, (0, 0)) for each in observers), reverse=True)
        ends[owner] = known[believed]
    return ends
