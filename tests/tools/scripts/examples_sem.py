"""Semaphores that are used by many: what one script costs, and whose turn it is."""
import itertools

from bench import A, B, C, HOLD, INFO, LEASE, WAITERS, attempt, nth, same
from client import BUSY, GRANTED, KEPT, LOST, RELEASED

BEATS, WANTS = "rlock_beats:{x}", "rlock_wants:{x}"
PATIENCE = 5001  # ms


def _crowd(bench, number, wants):
    """So many stand in line, and nobody of them listens."""
    now = bench.server.now()
    for i in range(number):
        bench.server("ZADD", WAITERS, now * 1000 + i, nth(i))
        if wants > 1:
            bench.server("HSET", WANTS, nth(i), wants)
        if i < 16:
            _beats(bench, nth(i), 7000)


def _beats(bench, owner, left):
    """It was heard of, and is not dead for so many ms."""
    bench.server("HSET", BEATS, owner, f"beats {bench.server.now() - 7000 + left:.0f}")


def few_commands_beside_waiters(bench):
    """sem: one script runs 40 commands at most, however many wait"""
    for number, wants in itertools.product((10, 1000), (1, 2)):
        for kind, lock in bench.each("sem", "plain", total=2):
            what = f"{kind}, {number} wait for {wants}"
            lock.take(A, attempt(1))
            lock.take(B, attempt(2))
            _crowd(bench, number, wants)
            same(bench.few(lock.take, C, attempt(3), permits=wants)[0], BUSY, what)
            same(bench.few(lock.take, C, attempt(3), permits=wants, place="2")[0], BUSY, what)
            same(bench.few(lock.give, A, attempt(1))[0], RELEASED, what)
            same(bench.few(lock.take, C, attempt(4))[0], GRANTED, what)
            same(bench.few(lock.give, nth(0), attempt(5))[0], LOST, what)
            same(bench.few(lock.run, "sem_resize", A, LEASE, attempt(9), 50)[0], RELEASED, what)


def few_commands_where_some_fit(bench):
    """sem: and whoever of them can enter, or has died; the first asks for more than there is, is old or young"""
    for age, due, owner in bench.afresh(*itertools.product((0, PATIENCE), (7000, 3000, -1), (nth(0), nth(20), C))):
        what = f"waits for {age} ms, heard of for {due} ms more, {owner}"
        lock = bench.lock("sem")
        lock.take(A, attempt(1), permits=3, total=4)
        _crowd(bench, 40, 2)
        bench.server("HDEL", WANTS, *map(nth, range(2, 10)))
        for i in range(40):
            bench.server("ZINCRBY", WAITERS, -age, nth(i))
        for i in range(15):
            _beats(bench, nth(i), due)
        for place in ("", "2", "2"):
            same(bench.few(lock.take, owner, attempt(3), permits=2, place=place)[0], BUSY, what)
        same(bench.few(lock.give, A, attempt(1), permits=3)[0], RELEASED, what)
        same(bench.few(lock.give, nth(1), attempt(5))[0], LOST, what)


def few_commands_beside_holders(bench):
    """sem: and however many hold permits, or have died with them; and however many are taken at once"""
    for number in (10, 1000):
        for _, lock in bench.each("sem", total=number):
            for i in range(1, number):
                lock.take(nth(i), attempt(i), lease=5000)
            last, what = attempt(number), f"{number} hold it"
            same(bench.few(lock.take, B, last)[0], GRANTED, what)
            same(bench.few(lock.take, C, attempt(number + 1), permits=5)[0], BUSY, what)
            same(bench.few(lock.renew, B, last)[0], KEPT, what)
            same(bench.few(lock.run, "sem_check", B, 0, "", 0, lock.token())[0], KEPT, what)
            same(bench.few(lock.give, B, last)[0], RELEASED, what)
            bench.server.let_pass(5000)
            same(bench.few(lock.take, B, last)[0], GRANTED, f"{what}, all dead")
            same(bench.server.value("x"), str(number - 1), what)
    for _, lock in bench.each("sem", total=10000):
        same(bench.few(lock.take, A, attempt(1), permits=10000)[0], GRANTED)
        same(bench.few(lock.renew, A, attempt(1), permits=10000)[0], KEPT)
        same(bench.few(lock.give, A, attempt(1), permits=10000)[0], RELEASED)
        bench.values({"x": "10000"})
        lock.take(A, attempt(1), lease=5000, permits=10000)
        bench.server.let_pass(5000)
        same(lock.take(B, attempt(2), permits=10000)[0], GRANTED, "those of the dead")


def the_first_has_its_turn(bench):
    """sem: who asks for several is not overtaken for ever"""
    for kind, lock in bench.each("sem", "plain"):
        lock.take(A, attempt(1), permits=2)
        same(lock.take(B, attempt(2), permits=3)[0], BUSY)
        same(lock.take(C, attempt(3), wait=False)[0], GRANTED, "overtaken")
        lock.give(C, attempt(3))
        bench.server("ZINCRBY", WAITERS, -PATIENCE, B)
        same(lock.take(C, attempt(4))[0], BUSY, "its turn")
        bench.hear(lock.channel, lock.own_channel(B), lock.own_channel(C))
        lock.give(A, attempt(1), permits=2)
        bench.heard((lock.channel, "3"), (lock.own_channel(B), "0"))
        same(lock.take(C, attempt(4))[0], BUSY, "its turn, and it is coming")
        same(lock.take(B, attempt(2), permits=3)[0], GRANTED)
        same(lock.take(C, attempt(4))[0], BUSY)
        bench.heard((lock.own_channel(C), "first 30000" if kind == "sem" else "first 15000"))
        same(lock.give(B, attempt(2), permits=3)[0], RELEASED)
        bench.heard((lock.channel, "3"), (lock.own_channel(C), "0"))
        same(lock.take(C, attempt(4))[0], GRANTED)


def nobody_has_a_turn_for_what_cannot_be(bench):
    """sem: but nobody waits for one that is dead, or asks for more than there is; or, --plain, for what may never come"""
    lock = bench.held("sem", permits=2, total=3)
    lock.take(B, attempt(2), permits=3)
    bench.server("ZINCRBY", WAITERS, -PATIENCE, B)
    same(lock.take(C, attempt(3))[0], BUSY, "it is alive")
    _beats(bench, B, 3000)
    same(lock.take(C, attempt(3))[0], GRANTED, "it was not heard of")
    lock.give(C, attempt(3))
    lock.take(B, attempt(2), permits=3)
    same(lock.take(C, attempt(4), wait=False)[0], BUSY)
    lock.run("sem_resize", A, LEASE, attempt(9), 2)
    lock.give(A, attempt(1), permits=2)
    same(lock.take(C, attempt(4), wait=False)[0], GRANTED, "there are too few for it")
    for _, lock in bench.each("plain"):
        lock.take(A, attempt(1), permits=2)
        lock.take(B, attempt(2), permits=2)
        for expected in (BUSY, GRANTED):
            bench.server("ZINCRBY", WAITERS, -PATIENCE, B)
            same(lock.take(C, attempt(3), wait=False)[0], expected)


def permits_that_stand_are_not_taken_twice(bench):
    """sem: permits whose hold expired, and which are in use again since the clock was set back, are not taken twice"""
    for permits, total in ((1, 2), (2, 5)):
        for _, lock in bench.each("sem", total=total):
            lock.take(A, attempt(1), permits=permits)
            bench.server("DEL", HOLD, INFO)
            same(lock.take(A, attempt(1), permits=permits)[0], GRANTED)
            same(bench.server.value("x"), str(total - permits))
            lock.give(A, attempt(1), permits=permits)
            bench.values({"x": str(total)})
