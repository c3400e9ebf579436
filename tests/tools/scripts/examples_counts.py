"""Keys, values and messages of sem and latch, as a Redisson client sees them."""
from bench import A, B, C, HOLD, INFO, LEASE, PERMITS, about, attempt, permit, same
from client import BUSY, GRANTED, KEPT, LOST, REFUSED, RELEASED


def sem_taken(bench):
    """sem: the value, a permit of 16 bytes for each taken, the new value as message"""
    lock = bench.lock("sem")
    bench.hear(lock.channel)
    same(lock.take(A, attempt(1), total=5), [GRANTED, 1, LEASE])
    same(lock.take(B, attempt(2), permits=2), [GRANTED, 2, LEASE])
    bench.standing("x", PERMITS, INFO, HOLD)
    same(bench.server.value("x"), "2")
    permits = bench.server.value(PERMITS)
    same(set(permits), {permit(1), permit(2), permit(2, 2)})
    for ends in permits.values():
        about(ends, bench.server.now() + LEASE)
    bench.heard((lock.channel, "5"))  # it was set up
    same(lock.give(B, attempt(2), permits=2), [RELEASED, 0, 0])
    same(lock.give(A, attempt(1)), [RELEASED, 0, 0])
    bench.values({"x": "5"})
    bench.heard((lock.channel, "4"), (lock.channel, "5"))


def left_held_by_a_semaphore(bench):
    """sem --min-hold: the permits come back in its time"""
    lock = bench.held("sem", permits=2, total=3)
    same(lock.give(A, attempt(1), permits=2, keep=5000), [RELEASED, 0, 0])
    same(lock.renew(A, attempt(1), permits=2), [LOST, 0, 0], "a late renewal")
    bench.ends_in(LEASE, INFO, HOLD)
    same(bench.server.value("x"), "1")
    same(lock.take(B, attempt(2), permits=2, total=3)[0], BUSY)
    lock.give(B, attempt(2), permits=2)
    bench.server.let_pass(5000)
    same(lock.take(B, attempt(3), permits=3, total=3)[0], GRANTED)
    same(lock.give(B, attempt(3), permits=3)[0], RELEASED)
    bench.values({"x": "3"})


def sem_renewed_and_expired(bench):
    """sem: renewed; expired permits come back once"""
    lock = bench.held("sem", permits=2, total=3)
    bench.server.let_pass(20000)
    same(lock.take(B, attempt(2), total=3)[0], GRANTED)
    same(lock.renew(A, attempt(1), permits=2), [KEPT, LEASE, 0])
    same(lock.renew(A, attempt(1), lease=5000, permits=2), [KEPT, 5000, 0])
    for ends in bench.server.value(PERMITS).values():
        about(ends, bench.server.now() + LEASE)  # never shortened
    bench.server.let_pass(LEASE)
    same(lock.renew(A, attempt(1), permits=2), [LOST, 0, 0])
    bench.hear(lock.channel)
    same(lock.give(A, attempt(1), permits=2), [LOST, 0, 0])
    same(lock.give(B, attempt(2)), [LOST, 0, 0])
    bench.values({"x": "3"})
    bench.heard((lock.channel, "3"))  # the dead's, once


def sem_lost_and_set_up_again(bench):
    """sem: lost with or without the permits in use, and set up again. The value is gone, the permits in use are not."""
    lock = bench.held("sem", permits=2, total=3)
    bench.server("DEL", "x")
    same(lock.take(B, attempt(2), total="", wait=False)[0], REFUSED)
    same(lock.renew(A, attempt(1), permits=2)[0], KEPT)
    same(lock.take(B, attempt(2), total=3)[0], GRANTED)
    same(bench.server.value("x"), "0")
    bench.server("FLUSHALL")
    same(lock.take(C, attempt(3), permits=3, total=3)[0], GRANTED)
    same(lock.renew(B, attempt(2))[0], LOST)
    same(lock.give(B, attempt(2))[0], LOST)
    lock.give(C, attempt(3), permits=3)
    bench.values({"x": "3"})


def sem_resized(bench):
    """sem --resize: the difference, also below what is in use, and waiters hear of it"""
    lock = bench.held("sem", permits=3, total=3)
    bench.hear(lock.channel, lock.own_channel(B))
    same(lock.take(B, attempt(2), total=3)[0], BUSY)
    same(lock.run("sem_resize", C, LEASE, attempt(9), 5), [RELEASED, 5, 3])
    same(bench.server.value("x"), "2")
    bench.heard((lock.channel, "2"), (lock.own_channel(B), "0"))
    same(lock.take(C, attempt(3), total=3)[0], REFUSED, "the old number")
    same(lock.take(B, attempt(2), total=3, place="1")[0], GRANTED, "who waits since before")
    lock.give(B, attempt(2))
    same(lock.run("sem_resize", C, LEASE, attempt(10), 1), [RELEASED, 1, 3])
    same(bench.server.value("x"), "-2")
    lock.give(A, attempt(1), permits=3)
    same(bench.server.value("x"), "1")


def plain_taken(bench):
    """sem --plain: the value alone"""
    lock = bench.lock("plain")
    bench.hear(lock.channel)
    same(lock.take(A, attempt(1), permits=2, total=3)[:2], [GRANTED, 1])
    bench.standing("x", INFO, HOLD)
    same(bench.server.value("x"), "1")
    same(lock.take(B, attempt(2), permits=2, wait=False)[0], BUSY)
    same(lock.give(A, attempt(1), permits=2), [RELEASED, 0, 0])
    bench.values({"x": "3"})
    bench.heard((lock.channel, "3"), (lock.channel, "3"))  # it was set up


def plain_beside_leased(bench):
    """sem --plain: what one with a lease has died with comes back to it, too, once"""
    bench.held("sem", permits=2, total=2)
    lock = bench.lock("plain")
    code, hint = lock.take(B, attempt(2), permits=2, total=2)[:2]
    same(code, BUSY)
    about(hint, LEASE)
    bench.server.let_pass(LEASE)
    for _ in range(2):
        same(lock.take(B, attempt(2), permits=2, total=2)[:2], [GRANTED, 2])
        same(bench.server.value("x"), "0")
    for answer in (RELEASED, LOST):
        same(lock.give(B, attempt(2), permits=2)[0], answer)
        bench.values({"x": "2"})


def latch_counted_down(bench):
    """latch: the count, 1 when set, 0 when open, gone"""
    lock = bench.lock("latch")
    bench.hear("redisson_countdownlatch__channel__{x}")
    same(lock.take(A, attempt(1)), [GRANTED, 0, 0], "none counts as open")
    same(lock.take(A, attempt(1), variant="must-exist")[:3], [BUSY, -1, 0])
    same(lock.run("latch_set", A, LEASE, attempt(2), 3), [RELEASED, 3, 0])
    same(lock.run("latch_set", A, LEASE, attempt(3), 9), [LOST, 3, 0])
    same(bench.server.value("x"), "3")
    bench.for_ever("x")
    bench.heard((lock.channel, "1"))
    same(lock.take(A, attempt(1))[:3], [BUSY, -1, 1])
    same(lock.run("latch_down", A, LEASE, attempt(4), 2), [RELEASED, 1, 0])
    same(bench.server.value("x"), "1")
    bench.heard()
    same(lock.run("latch_down", A, LEASE, attempt(5), 2), [RELEASED, 0, 0])
    same(bench.server.value("x"), None)
    bench.heard((lock.channel, "0"))
    same(lock.take(A, attempt(1), variant="must-exist", place="1")[0], GRANTED)


def latch_that_became_a_semaphore(bench):
    """a name on which rlock set a latch that Redisson opened: a semaphore like any other from then on"""
    for begin in bench.afresh("sem_acquire", "sem_resize"):
        bench.lock("latch").run("latch_set", A, LEASE, attempt(1), 3)
        bench.server("DEL", "x")
        lock = bench.lock("sem")
        lock.take(A, attempt(2), total=3) if begin == "sem_acquire" else lock.run(begin, A, LEASE, attempt(2), 3)
        same(lock.take(B, attempt(3), total=3)[0], GRANTED, begin)


def sem_whose_permits_are_lost(bench):
    """sem: what was taken is lost, and the number is not: it is set up again by who comes next"""
    lock = bench.held("sem", permits=3, total=3)
    bench.server("DEL", PERMITS)
    same(lock.take(B, attempt(2), permits=2, total=3)[0], GRANTED)
    same(bench.server.value("x"), "1")
