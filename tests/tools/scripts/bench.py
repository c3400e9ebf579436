"""What the examples stand on: an empty server, someone who listens, owners, and comparisons."""
import contextlib
import json
import os
import subprocess

from client import Listener, Lock, Server

A, B, C = (f"{letter * 8}-2222-4333-8444-555555555555:{letter}@host" for letter in "abc")
# Redisson's clients: a thread's id behind the colon.
R, S = (f"{digit * 8}-2222-4333-8444-555555555555:{digit}" for digit in "78")
LEASE, PATIENCE, BEAT = 30000, 300000, 2500
INFO, HOLD, WAITERS = "rlock_info:{x}", "rlock_hold:{x}", "rlock_waiters:{x}"
LEASES = "rlock_leases:{x}"
QUEUE, TIMEOUTS = "redisson_lock_queue:{x}", "redisson_lock_timeout:{x}"
PERMITS = "{x}:timeout"
MOST = 40  # commands of one script


def nth(number):
    """An owner, one of many."""
    return f"{number:08x}-2222-4333-8444-555555555555:{number}@host"


def attempt(number):
    """Its end is not the number of one of its permits."""
    return f"{number:08x}" * 3 + f"{number + 10 ** 6:08x}"


def permit(number, n=1):
    """The id of an attempt's n-th permit."""
    own = bytes.fromhex(attempt(number))
    return (own if n == 1 else own[:12] + n.to_bytes(4, "big")).decode("latin-1")


def lease_key(owner, number=1):
    return "{x}:" + f"{owner}:rwlock_timeout:{number}"


def same(got, expected, what="value"):
    if got != expected:
        raise AssertionError(f"{what}\n  expected {expected}\n  got      {got}")


def about(got, expected, what="time"):
    """A time in ms that passes while the test runs."""
    if got is None or not expected - 1000 <= got <= expected + 1000:
        raise AssertionError(f"{what}: expected about {expected}, got {got}")


class Bench:
    def __init__(self, path):
        self.path, self.server, self.listener = path, Server(path), Listener(path)
        self.server("FLUSHALL")

    def close(self):
        """Who listens no more must not count as a listener in the next example."""
        self.server.close()
        self.listener.close()

    def lock(self, kind, name="x"):
        return Lock(self.server, kind, name)

    def held(self, kind, **options):
        """A lock that A's first attempt has taken."""
        lock = self.lock(kind)
        lock.take(A, attempt(1), **options)
        return lock

    def afresh(self, *cases):
        """Each of them, on an empty server."""
        for case in cases:
            self.server("FLUSHALL")
            yield case

    def each(self, *kinds, total=3):
        """A lock of each kind, on an empty server; a semaphore with so many permits."""
        for kind in self.afresh(*kinds):
            lock = self.lock(kind)
            lock.total = total if kind in ("sem", "plain") else ""
            yield kind, lock

    def few(self, script, *words, most=MOST, **options):
        """The answer of a script that runs no more commands than that; spent is how many."""
        before = self.server.commands()
        answer = script(*words, **options)
        self.spent = self.server.commands() - before
        same(self.spent <= most, True, f"{self.spent} commands by {script.__name__} {words}")
        return answer

    def locks(self, *kinds):
        return [self.lock(kind) for kind in kinds]

    def status(self, code=0):
        """What `rlock status` shows of x, None for nothing; and that it changes nothing."""
        before = self.server.see()
        shown = subprocess.run([os.environ["SCRIPTS"] + "/../../cmd/rlock", "status", "--json", "x"], check=False,
                               env={"RLOCK_CONFIG": "/dev/null", "RLOCK_SERVER": f"unix://{os.path.abspath(self.path)}"},
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        same(shown.returncode, code, "status")
        same(self.changes(before), {}, "what has changed")
        return next(iter(json.loads(shown.stdout)), None)

    def queue(self, *waiters):
        """Those of Redisson's come: (owner, in how many ms it is stale) each; None: its time was lost."""
        for owner, ends in waiters:
            self.server("RPUSH", QUEUE, owner)
            if ends is not None:
                self.server("ZADD", TIMEOUTS, self.server.now() + ends, owner)

    def stand(self, waiters, since=None):
        """The fair queue is these, {owner: in how many ms from then Redisson takes it for stale}, in this order."""
        scores = self.server.value(TIMEOUTS)
        same((self.server.value(QUEUE), set(scores)), (list(waiters), set(waiters)), "the queue, and who has a score")
        for owner, ends in waiters.items():
            about(scores[owner], (since or self.server.now()) + ends, owner)

    def reader(self, owner, *leases):
        """Redisson's reader comes, with holds that last so many ms each."""
        self.server("HSET", "x", "mode", "read", owner, len(leases))
        for i, ends in enumerate(leases, 1):
            self.server("SET", lease_key(owner, i), 1, "PX", ends)
        self.server("PEXPIRE", "x", max(*leases, self.server.left("x")))

    def changes(self, before):
        """Of what server.see() has seen before, {key: (before, now)}; what has expired since is none."""
        now = {key: value for key, (value, _) in self.server.see().items()}
        then = {key: value for key, (value, _) in before.items() if key in now or self.server.left(key) != -2}
        return {key: (then.get(key), now.get(key)) for key in now.keys() | then if then.get(key) != now.get(key)}

    def values(self, expected):
        """These keys stand, with these values, and no others; tokens apart."""
        same({key: value for key, (value, _) in self.server.see().items()
              if not key.startswith("redisson_lock_token:")}, expected, "keys")

    @contextlib.contextmanager
    def no_memory(self):
        self.server("CONFIG", "SET", "maxmemory", 1)
        try:
            yield
        finally:
            self.server("CONFIG", "SET", "maxmemory", 0)

    @staticmethod
    def forget(lock, *numbers):
        """The answers to these attempts have come."""
        for number in numbers:
            lock.run("forget", A, 0, attempt(number), 1)

    def standing(self, *expected):
        same(self.server.keys(), set(expected), "keys")

    def ends_in(self, ms, *keys):
        for key in keys:
            about(self.server.left(key), ms, key)

    def for_ever(self, *keys):
        for key in keys:
            same(self.server.left(key), -1, f"expiry of {key}")

    def hear(self, *channels):
        self.listener.listen(*channels)
        self.listener.heard()

    def heard(self, *expected):
        """These messages, as (channel, text), since the last look."""
        same(sorted(self.listener.heard()), sorted(expected), "messages")
