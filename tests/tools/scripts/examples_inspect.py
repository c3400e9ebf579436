"""What `rlock status` shows of a name, and that to look changes nothing."""
import os

from bench import A, B, C, HOLD, INFO, LEASE, LEASES, PERMITS, R, S, WAITERS, attempt, lease_key, nth, permit, same
from client import common

PAGED = [key.replace("*", "x") for key in common("rlock_hold:{*}") + [
    "redisson_lock_queue:{*}", "redisson_lock_timeout:{*}", "rlock_queue:{*}", "rlock_queue_beats:{*}", "{*}:wait_write",
    "rlock_writers:{*}", "rlock_writer_beats:{*}", "{*}:timeout", "rlock_leases:{*}", "rlock_last:{*}"]]


def _seen(bench, state, kind, holders=(), waiters=()):
    """The lock as it is shown, and who holds it, by owner."""
    seen = bench.status()
    by_owner = {holder["owner"]: holder for holder in seen["holders"]}
    same((seen["state"], seen["kind"], sorted(by_owner), [waiter["owner"] for waiter in seen["waiters"]]),
         (state, kind, sorted(holders), list(waiters)), "status")
    return seen, by_owner


def _shown(holder, ttl_ms, **expected):
    """To look takes a program's start each time, and the lease goes on meanwhile."""
    same(ttl_ms - 4000 < holder["ttl_ms"] <= ttl_ms, True, f"ttl_ms {holder['ttl_ms']} of {ttl_ms}")
    same({name: holder[name] for name in expected}, expected)


def seen_of_redissons_mutex(bench):
    """inspect: Redisson's mutex and its queue"""
    bench.server("HSET", "x", R, 2)
    same(_seen(bench, "held", "run", [R])[1][R]["ttl_ms"], None)
    bench.server("PEXPIRE", "x", LEASE)
    _shown(_seen(bench, "held", "run", [R])[1][R], LEASE, holds=2, host=None, pid=None, since=None, token=None)
    bench.queue((S, LEASE), (B, -1))
    _seen(bench, "held", "fair", [R], [S])  # the other's time is over


def seen_of_dead_waiters(bench):
    """inspect: a waiter that beats no more is none"""
    run, fair = bench.locks("run", "fair")
    run.take(A, attempt(1))
    fair.take(B, attempt(2))
    fair.take(C, attempt(3))
    for _ in range(2):
        bench.server.let_pass(2400)
        _seen(bench, "held", "fair", [A], [B, C])
        fair.take(C, attempt(3), place=2)
    bench.server.let_pass(2400)
    _seen(bench, "held", "fair", [A], [C])


def seen_of_readers(bench):
    """inspect: read: each reader's own lease, the dead left out, writers first in line"""
    read, write = bench.locks("read", "write")
    read.take(A, attempt(1), lease=10000)
    read.take(A, attempt(2), lease=20000, proof=(A, "1"))
    read.take(B, attempt(3), lease=5000)
    bench.reader(R, LEASE)
    _, by_owner = _seen(bench, "held", "read", [A, B, R])
    _shown(by_owner[A], 20000, holds=2, token=1)
    _shown(by_owner[B], 5000, holds=1, token=2)
    _shown(by_owner[R], LEASE, holds=1, token=None, host=None)
    write.take(C, attempt(4))
    read.take(S, attempt(5))
    bench.server("ZADD", LEASES, 1, f"{B} {attempt(3)}", 1, f"{A} {attempt(1)}")  # their leases are over
    _shown(_seen(bench, "held", "read", [A, R], [C, S])[1][A], 20000, holds=1)
    bench.server("DEL", lease_key(R))
    bench.server("ZADD", LEASES, 1, f"{A} {attempt(2)}")
    _seen(bench, "free", "read", [], [C, S])


def seen_of_a_writer(bench):
    """inspect: write: a writer that reads too is one holder; a downgrade reads"""
    read, write = bench.locks("read", "write")
    write.take(A, attempt(1))
    _shown(_seen(bench, "held", "write", [A])[1][A], LEASE, holds=1, token=1)
    read.take(A, attempt(2), lease=40000, proof=(A, "1"))
    _shown(_seen(bench, "held", "write", [A])[1][A], 40000, holds=2, token=1)
    bench.server.let_pass(LEASE)
    _shown(_seen(bench, "held", "read", [A])[1][A], 10000, holds=1)
    bench.server("DEL", "x", INFO, LEASES)
    bench.server("HSET", "x", "mode", "write", R + ":write", 3)
    bench.server("PEXPIRE", "x", LEASE)
    _shown(_seen(bench, "held", "write", [R])[1][R], LEASE, holds=3)


def seen_of_a_semaphore(bench):
    """inspect: sem: permits by holder, those that have expired are available"""
    def permits(state, holders, waiters, total, available):
        seen, by_owner = _seen(bench, state, "sem", holders, waiters)
        same(seen["permits"], {"total": total, "available": available}, "permits")
        return by_owner

    sem = bench.held("sem", permits=2, total=5)
    sem.take(B, attempt(2), lease=5000)
    bench.server("ZADD", PERMITS, bench.server.now() + 9000, permit(9))
    bench.server("DECR", "x")
    sem.take(C, attempt(3), permits=2)
    by_owner = permits("held", [A, B, attempt(9)], [C], 5, 1)
    _shown(by_owner[A], LEASE, permits=2, token=1, command="command")
    _shown(by_owner[B], 5000, permits=1, token=2)
    _shown(by_owner[attempt(9)], 9000, permits=1, token=None, host=None)
    bench.server("DEL", WAITERS)
    bench.server("ZADD", PERMITS, bench.server.now() - 1, permit(2))
    permits("held", [A, attempt(9)], [], 5, 2)
    bench.server("DEL", "x")
    permits("held", [A, attempt(9)], [], None, None)
    bench.server.let_pass(LEASE)
    bench.server("SET", "x", 1)
    permits("free", [], [], 5, 5)


def seen_of_numbers(bench):
    """inspect: sem --plain: permits by holder; Redisson's are only counted. latch: its count"""
    plain = bench.held("plain", permits=2, total=3)
    seen, by_owner = _seen(bench, "held", "sem", [A])
    same((seen["permits"], by_owner[A]["permits"], by_owner[A]["ttl_ms"]), ({"total": 3, "available": 1}, 2, None))
    plain.give(A, attempt(1), permits=2)
    same(_seen(bench, "free", "sem")[0]["permits"], {"total": 3, "available": 3})
    bench.server("FLUSHALL")
    bench.server("SET", "x", 0)  # Redisson's, all taken
    same(_seen(bench, "held", "sem")[0]["permits"], {"total": None, "available": 0})
    bench.server("DEL", "x")
    bench.lock("latch").run("latch_set", "", 0, attempt(1), 3)
    for _ in range(2):
        same(_seen(bench, "held", "latch")[0]["count"], 3)
        bench.server("DEL", HOLD)  # what rlock's own latch has besides


def seen_of_what_is_no_lock(bench):
    """inspect: a key that is no lock is of the wrong kind"""
    for command in bench.afresh(("SET", "x", "text"), ("SADD", "x", 1), ("HSET", "x", "a", 1, "b", 2),
                                ("HSET", "x", "a", "text"), ("HSET", "x", "mode", "dark"), ("RPUSH", "x", 1)):
        bench.server(*command)
        same(bench.status(65), None, command)


def seen_beside_strangers(bench):
    """inspect: what somebody else has put under a key beside a lock hides neither the holder nor other waiters"""
    bench.held("run").take(B, attempt(2))
    for command in (("SET", "redisson_lock_queue:{x}", 1), ("RPUSH", "{x}:wait_write", 1), ("SET", "rlock_writers:{x}", 1)):
        bench.server(*command)
        _seen(bench, "held", "run", [A], [B])


def seen_of_odd_descriptions(bench):
    """inspect: whatever stands where a holder is described does no harm"""
    bench.held("run")
    for text in ("no json", "[1]", "7", '{"pid": 1e300, "host": {}, "since": null}', '{"pid": -1, "user": 3}'):
        bench.server("HSET", INFO, A, text)
        _shown(_seen(bench, "held", "run", [A])[1][A], LEASE, host=None, pid=None, user=None, since=None, token=None)


def seen_of_the_last_run(bench):
    """inspect: when a run succeeded stays known while later ones fail; whatever else is noted of runs does no harm"""
    run = bench.lock("run")
    for number, status in ((1, 0), (2, 3)):
        run.take(A, attempt(number), period=1000)
        run.give(A, attempt(number), ended=(1000, status, 1500))
        bench.server.let_pass(1000)
    last = bench.status()["last_run"]
    same((last["exit_status"], last["succeeded"] < last["ended"]), (3, True))
    for command in (("HSET", "rlock_last:{x}", "last", "nonsense"), ("SET", "rlock_last:{x}", "nonsense")):
        bench.server(*command)
        same(bench.status().get("last_run"), None, command)


def seen_of_a_crowd_that_leaves(bench):
    """inspect: a crowd comes in pages; all that stay are seen, though others leave between the pages"""
    now, owners = bench.server.now(), [nth(number) for number in range(1, 301)]
    bench.server("HSET", "x", "mode", "read", *(word for each in owners for word in (each, 1)))
    bench.server("ZADD", LEASES, *(word for i, each in enumerate(owners) for word in (now + LEASE, f"{each} {attempt(i)}")))
    bench.server("ZADD", WAITERS, *(word for i, each in enumerate(owners) for word in (now * 1000 + i, "w" + each)))
    with open(os.environ["SCRIPTS"] + "/inspect.lua", encoding="latin-1") as file:
        script = file.read()
    answer, leaving, seen = [""], iter(owners[:40]), set()
    while len(answer) == 1 or answer[-1]:  # it says where the next page begins
        answer = bench.server("EVAL", script, len(PAGED), *PAGED, "", 0, "", 0, "PUBLISH ", 0, answer[-1], 10)
        seen.update(row[0] for rows in (answer[8], answer[9], answer[13]) for row in rows)
        leaver = next(leaving, owners[0])
        bench.server("ZREM", WAITERS, "w" + leaver)
        bench.server("HDEL", "x", leaver)
    same({each for each in owners[40:] if each not in seen or "w" + each not in seen}, set(), "not seen")


def seen_of_long_texts(bench):
    """inspect: of a long text the front is shown, up to a whole character; what no rlock wrote is not read"""
    bench.lock("run").take(A, attempt(1))
    bench.server("HSET", INFO, A, '{"command":"%s","since":77}' % ("c" * 20000))
    holder = _seen(bench, "held", "run", [A])[1][A]
    same((holder["command"], holder["since"]), (None, None))
    bench.server("HSET", INFO, A, '{"command":"c%s"}' % ("\u00e9".encode("utf-8").decode("latin-1") * 3000))
    same(_seen(bench, "held", "run", [A])[1][A]["command"], "c" + 2047 * "\u00e9")
