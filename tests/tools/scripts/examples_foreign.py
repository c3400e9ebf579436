"""What Redisson holds and waits for is respected. It is written here as it writes it."""
from bench import (A, B, C, INFO, LEASE, PATIENCE, PERMITS, QUEUE, R, S, TIMEOUTS, about,
                   attempt, lease_key, permit, same)
from client import BUSY, GRANTED, LOST, REFUSED, RELEASED


def foreign_holder(bench):
    """Redisson's mutex and writer are respected, and not touched; one without a lease is waited for"""
    for fields, *kinds in bench.afresh(((R, 2), "run", "fair"), (("mode", "write", R + ":write", 1), "read", "write")):
        bench.server("HSET", "x", *fields)
        bench.server("PEXPIRE", "x", LEASE)
        before = bench.server("DUMP", "x")
        for lock in bench.locks(*kinds):
            answer = lock.take(A, attempt(1), wait=False)
            same(answer[0:4:3], [BUSY, R])
            about(answer[1], LEASE, "hint")
            same(lock.renew(A, attempt(1)), [LOST, 0, 0])
            same(lock.take(A, attempt(2), proof=(R, "1"), wait=False)[0], BUSY)
            same(lock.give(A, attempt(1)), [LOST, 0, 0])
        same(bench.server("DUMP", "x"), before, "the lock")
        bench.standing("x")
        bench.ends_in(LEASE, "x")
        bench.server("PERSIST", "x")
        same(lock.take(A, attempt(1))[:2], [BUSY, -1], "without a lease")
        bench.for_ever("x")
        bench.server("PEXPIRE", "x", LEASE)
        bench.server.let_pass(LEASE)
        same(lock.take(A, attempt(1))[0], GRANTED)


def foreign_readers(bench):
    """Redisson's readers are joined, and waited for one by one"""
    read, write = bench.locks("read", "write")
    bench.reader(R, 10000, 20000)
    bench.reader(S, 30000)
    same(read.take(A, attempt(1), lease=5000)[0], GRANTED)
    same(bench.server.value("x"), {"mode": "read", R: "2", S: "1", A: "1"})
    bench.ends_in(LEASE, "x")  # not shortened
    answer = write.take(B, attempt(2), wait=False)
    same(answer[0], BUSY)
    about(answer[1], 30000, "the longest reader's")
    bench.ends_in(10000, lease_key(R, 1))
    bench.server.let_pass(15000)
    same(read.give(A, attempt(1)), [LOST, 0, 0])
    about(write.take(B, attempt(2), wait=False)[1], 15000, "hint")
    # Redisson numbers its holds itself: of one reader's all go or none.
    same(bench.server.value("x"), {"mode": "read", R: "2", S: "1"})
    bench.server("HDEL", "x", S)  # as Redisson gives it back
    bench.server("DEL", lease_key(S))
    bench.server("PEXPIRE", "x", 5000)
    about(write.take(B, attempt(2), wait=False)[1], 5000, "hint")
    bench.server.let_pass(5000)
    same(write.take(B, attempt(2))[0], GRANTED)
    same(bench.server.value("x"), {"mode": "write", B + ":write": "1"})


def foreign_readers_beside_a_longer_hold(bench):
    """Redisson's readers beside a longer hold of ours, too many to ask each: the lock stands as long as it did"""
    read = bench.lock("read")
    same(read.take(A, attempt(2), lease=600000)[0], GRANTED)
    for i in range(20):
        bench.reader(f"{R}{i}", 10000)
    same(read.give(A, attempt(2)), [RELEASED, 0, 0])
    bench.ends_in(600000, "x")


def foreign_head_is_respected(bench):
    """Redisson's waiter at the head keeps its turn, its score and its queue"""
    fair, run = bench.locks("fair", "run")
    bench.queue((R, 5000))
    bench.hear(fair.own_channel(R))
    same(fair.take(A, attempt(1))[0:4], [BUSY, -1, 2, R])
    bench.heard((fair.own_channel(R), "0"))
    bench.stand({R: 5000, A: 5000 + PATIENCE})
    bench.for_ever(QUEUE, TIMEOUTS)  # it outlives Redisson's by nothing, so it stays
    same(run.take(B, attempt(2))[0], GRANTED, "run does not queue")
    same(bench.server.value(QUEUE), [R, A])
    run.give(B, attempt(2))
    bench.heard((fair.own_channel(R), "0"))
    bench.server.let_pass(5000)
    same(fair.take(A, attempt(1))[0], GRANTED, "Redisson's waiter is stale")
    fair.give(A, attempt(1))
    bench.standing()


def stale_foreign_heads_go(bench):
    """Redisson's stale waiters at the head go, the others' times stay as they are, as Redisson has it."""
    fair = bench.lock("fair")
    bench.queue((R, -1), ("lost", None), (S, 400000), (C, 700000))
    same(fair.take(A, attempt(1))[:4], [BUSY, -1, 3, S])
    bench.stand({S: 400000, C: 700000, A: 700000 + PATIENCE})


def many_stale_foreigners(bench):
    """Many stale waiters of Redisson's at the head, as a service that has died leaves them, hide nobody behind them"""
    fair, dead = bench.lock("fair"), [f"{R[:-1]}{n}" for n in range(2, 14)]
    bench.queue(*((owner, -1) for owner in dead), (S, 400000))
    bench.hear(fair.own_channel(S))
    for number in range(1, 4):
        answer = fair.take(A, attempt(number), wait=False)
        same((answer[0], answer[3]), (BUSY, S), number)
        bench.heard((fair.own_channel(S), "0"))
    bench.stand({S: 400000})
    bench.server("DEL", QUEUE, TIMEOUTS)
    bench.queue(*((owner, -1) for owner in dead), (S, 400000))
    bench.lock("run").take(A, attempt(4))
    bench.lock("run").give(A, attempt(4))
    bench.heard((fair.own_channel(S), "0"))
    bench.server("DEL", QUEUE, TIMEOUTS)
    bench.queue(*((owner, -1) for owner in dead))
    same(fair.take(A, attempt(5), wait=False)[0], GRANTED)
    same(bench.server.value(QUEUE), dead[5:], "the rest is no waiter")
    same(set(bench.server.value(TIMEOUTS)), set(dead[5:]), "nor without a score, which Redisson would respect")


def dropped_by_a_foreigner(bench):
    """A waiter of rlock's that Redisson has dropped, as it does with a stale one, comes back with its next heartbeat"""
    fair = bench.held("fair")
    ticket = fair.take(B, attempt(2))[12]
    bench.queue((R, 400000))
    bench.server("LREM", QUEUE, 1, B)
    bench.server("ZREM", TIMEOUTS, B)
    same(bench.server.value(QUEUE), [R])
    same(fair.take(B, attempt(2), place="1", ticket=str(ticket))[2], 2)
    same(bench.server.value(QUEUE), [R, B])


def foreign_permits(bench):
    """Redisson's permits count, expire and come back"""
    lock = bench.lock("sem")
    bench.server("SET", "x", 1)
    now = bench.server.now()
    bench.server("ZADD", PERMITS, now + 5000, "r" * 16, now + 9000, "s" * 16)
    same(lock.take(A, attempt(1), total=4)[0], REFUSED)
    same(lock.take(A, attempt(1), total=3)[0], GRANTED)
    answer = lock.take(B, attempt(2), total=3)
    same(answer[0], BUSY)
    about(answer[1], 5000, "hint")
    bench.server.let_pass(5000)
    bench.hear(lock.channel)
    same(lock.take(B, attempt(2), total=3)[0], GRANTED)
    bench.heard((lock.channel, "1"))
    same(set(bench.server.value(PERMITS)) - {"s" * 16}, {permit(1), permit(2)})
    bench.server("ZREM", PERMITS, "s" * 16)  # as Redisson gives it back
    bench.server("INCRBY", "x", 1)
    same(lock.give(A, attempt(1)), [RELEASED, 0, 0])
    same(lock.give(B, attempt(2)), [RELEASED, 0, 0])
    bench.values({"x": "3"})


def foreign_latch(bench):
    """Redisson's latch"""
    lock = bench.lock("latch")
    bench.server("SET", "x", 2)
    bench.hear(lock.channel)
    same(lock.take(A, attempt(1))[0], BUSY)
    same(lock.run("latch_set", A, LEASE, attempt(2), 5), [LOST, 2, 0])
    same(lock.run("latch_down", A, LEASE, attempt(3), 1), [RELEASED, 1, 0])
    bench.server("DECR", "x")  # Redisson's deletes it in the same script
    same(lock.take(A, attempt(1))[0], GRANTED)
    bench.server("SET", "x", 1)
    same(lock.run("latch_down", A, LEASE, attempt(4), 1), [RELEASED, 0, 0])
    bench.heard((lock.channel, "0"))
    bench.forget(lock, 2, 3, 4)
    bench.standing()


def broken_lock_proves_nothing(bench):
    """a lock deleted by hand leaves no proof. Somebody deletes it by hand; what stands beside it must not speak for the old holder."""
    for kind, lock in bench.each("run", "fair", "read", "write"):
        token = lock.take(A, attempt(1))[1]
        bench.server("DEL", "x")
        same(lock.take(B, attempt(2))[:2], [GRANTED, token + 1], kind)
        same(set(bench.server.value(INFO)), {B}, kind)
        same(lock.renew(A, attempt(1)), [LOST, 0, 0], kind)
        same(lock.give(A, attempt(1)), [LOST, 0, 0], kind)
        if kind != "read":
            same(lock.take(C, attempt(3), proof=(A, token), wait=False)[0], BUSY, kind)
        bench.server("DEL", "x")
        lock.take(A, attempt(4))
        same(lock.renew(A, attempt(1)), [LOST, 0, 0], f"{kind}: of before")
