"""What is wrong with Redisson's own scripts, each shown not to be here."""
from bench import (A, B, C, HOLD, INFO, LEASE, LEASES, PERMITS, QUEUE, TIMEOUTS, about, attempt,
                   lease_key, same)
from client import BUSY, GRANTED, KEPT, LOST, REENTERED, RELEASED, STILL_HELD

SOON = 1  # ms: there is more to do


def renewal_keeps_no_dead_reader_alive(bench):
    """a reader's renewal keeps no dead reader alive (#7098)"""
    read, write = bench.locks("read", "write")
    read.take(A, attempt(1), lease=5000)
    read.take(B, attempt(2))
    for _ in range(3):
        bench.server.let_pass(2000)
        same(read.renew(B, attempt(2)), [KEPT, LEASE, 0])
    same(read.renew(A, attempt(1)), [LOST, 0, 0])
    bench.standing("x", INFO, LEASES, lease_key(B))
    read.give(B, attempt(2))
    same(write.take(C, attempt(3))[0], GRANTED)


def downgrade_tells_the_readers(bench):
    """a downgrade tells the readers that wait"""
    read, write = bench.locks("read", "write")
    token = write.take(A, attempt(1))[1]
    read.take(A, attempt(2), proof=(A, token))
    read.take(B, attempt(3))
    bench.hear(read.channel, read.own_channel(B))
    same(write.give(A, attempt(1)), [RELEASED, 0, 0])
    bench.heard((read.channel, "1"), (read.own_channel(B), "0"))
    same(read.take(B, attempt(3))[0], GRANTED)


def downgrade_by_expiry_frees_the_readers(bench):
    """a downgrade by expiry lets them in"""
    read, write = bench.locks("read", "write")
    token = write.take(A, attempt(1), lease=5000)[1]
    read.take(A, attempt(2), proof=(A, token))
    bench.server.let_pass(5000)
    same(read.take(B, attempt(3))[0], GRANTED)
    same(bench.server.value("x"), {"mode": "read", A: "1", B: "1"})


def write_reentry_sets_the_lease(bench):
    """re-entering a write lock sets the lease, and does not add to it"""
    write = bench.lock("write")
    token = write.take(A, attempt(1))[1]
    for number in range(2, 5):
        write.take(A, attempt(number), proof=(A, token))
    bench.ends_in(LEASE, "x", INFO, LEASES)
    bench.server.let_pass(10000)
    write.take(A, attempt(5), lease=5000, proof=(A, token))
    bench.ends_in(LEASE - 10000, "x")  # not shortened either


def live_waiters_stay_for_hours(bench):
    """live fair waiters stay, however long they wait (#3004, #3730, #1104)

    They beat. Their scores stay ahead of now, so that Redisson keeps them too."""
    fair = bench.lock("fair")
    fair.take(A, attempt(1), lease=86400000)
    for _ in range(6):
        bench.server.let_pass(2500)
        for number, owner in ((2, B), (3, C)):
            same(fair.take(owner, attempt(number))[0:3:2], [BUSY, number - 1])
    bench.server("ZADD", TIMEOUTS, bench.server.now() - 1, B)  # the score alone does not count
    same(fair.take(C, attempt(3))[2], 2)
    same(fair.take(B, attempt(2))[2], 1)
    about(bench.server.value(TIMEOUTS)[B], bench.server.now() + 86400000 - 15000 + 300000)
    same(bench.server.value(QUEUE), [B, C])


def dead_waiters_go_within_seconds(bench):
    """dead fair waiters go within seconds, wherever they stand"""
    fair = bench.lock("fair")
    fair.take(A, attempt(1))
    for number, owner in enumerate(("1@dead", "2@dead", B, "3@dead", C), 2):
        fair.take(owner, attempt(number))
    fair.give(A, attempt(1))
    for _ in range(3):
        same(fair.take(B, attempt(4))[0], BUSY)
        bench.server.let_pass(2400)
        answer = fair.take(C, attempt(6))
    same(answer[11], SOON)
    same(fair.take(B, attempt(4))[0], GRANTED)
    same(bench.server.value("x"), {B: "1"})
    same(bench.server.value(QUEUE), [C])


def server_away_drops_nobody(bench):
    """while the server is away nobody can beat, and nobody is dropped"""
    fair = bench.lock("fair")
    fair.take(A, attempt(1))
    for number, owner in ((2, B), (3, C)):
        fair.take(owner, attempt(number))
    bench.server.let_pass(9000)
    same(fair.take(C, attempt(3))[0:3:2], [BUSY, 2])
    same(fair.take(B, attempt(2))[0:3:2], [BUSY, 1])


def reader_reenters_beside_a_waiting_writer(bench):
    """a reader re-enters beside a waiting writer"""
    read, write = bench.locks("read", "write")
    token = read.take(A, attempt(1))[1]
    write.take(B, attempt(2))
    same(read.take(C, attempt(3))[0], BUSY)
    same(read.take(C, attempt(4), proof=(A, token)), [REENTERED, token, LEASE])


def dead_readers_leave_no_fields(bench):
    """dead readers leave no fields while others keep coming"""
    read = bench.lock("read")
    for number in range(1, 8):
        read.take(f"dead{number}", attempt(number), lease=1500)
        read.take(f"live{number}", attempt(100 + number))
        bench.server.let_pass(2000)
        read.take(B, attempt(200 + number))
        read.give(B, attempt(200 + number))
    same(set(bench.server.value("x")), {"mode"} | {f"live{number}" for number in range(1, 8)})
    same(set(bench.server.value(INFO)), {f"live{number}" for number in range(1, 8)})


def dead_permits_leave_no_fields(bench):
    """dead holders of permits leave no fields while others keep coming"""
    sem = bench.lock("sem")
    sem.take(A, attempt(1), total=3)
    for number in range(2, 8):
        sem.take(f"dead{number}", attempt(number), lease=1500)
        bench.server.let_pass(2000)
        sem.renew(A, attempt(1))
    same(sem.take(B, attempt(9), permits=2)[0], GRANTED)
    same(set(bench.server.value(INFO)), {A, B})
    same(set(bench.server.value(HOLD)), {A, B, attempt(1), attempt(9)})


def repeated_attempt_counts_once(bench):
    """a lock call repeated after a lost reply counts once, and has the lease that it promises"""
    for kind in ("run", "fair", "read", "write", "sem", "plain"):
        options = {"total": 3} if kind in ("sem", "plain") else {}
        bench.server("FLUSHALL")
        lock = bench.lock(kind)
        first = lock.take(A, attempt(1), **options)
        before = bench.server.value("x")
        if kind in ("run", "fair", "read", "write"):
            nested = lock.take(B, attempt(2), proof=(A, first[1]))
            counted = bench.server.value("x")
            same(lock.take(B, attempt(2), proof=(A, first[1])), nested, kind)
            same(bench.server.value("x"), counted, kind)
            same(lock.give(A, attempt(2), waiter=B)[0], STILL_HELD, kind)
        bench.server.let_pass(10000)
        same(lock.take(A, attempt(1), **options), first, kind)
        same(bench.server.value("x"), before, kind)
        same(lock.token(), first[1], kind)
        if kind in ("run", "fair", "read", "write"):
            bench.ends_in(LEASE, "x")  # the whole lease that the answer promises
        if kind == "sem":
            about(max(bench.server.value(PERMITS).values()), bench.server.now() + LEASE, kind)


def repeated_release_takes_no_outer_hold(bench):
    """an unlock repeated takes no outer hold, nor the next one's"""
    for kind in ("run", "fair", "read", "write"):
        bench.server("FLUSHALL")
        lock = bench.lock(kind)
        token = lock.take(A, attempt(1))[1]
        lock.take(B, attempt(2), proof=(A, token))
        lock.take(C, attempt(3), proof=(A, token))
        for number, waiter in ((2, B), (3, C)):
            same(lock.give(A, attempt(number), waiter=waiter)[0], STILL_HELD, kind)
            same(lock.give(A, attempt(number), waiter=waiter), [LOST, 0, 0], kind)
        same(lock.renew(A, attempt(1))[0], KEPT, kind)
        same(lock.give(A, attempt(1))[0], RELEASED, kind)
        bench.standing()
        same(lock.take(B, attempt(4))[0], GRANTED, kind)
        same(lock.give(A, attempt(1)), [LOST, 0, 0], kind)
        same(lock.renew(B, attempt(4))[0], KEPT, kind)


def repeated_release_makes_no_permits(bench):
    """a release repeated makes no permits"""
    for kind in ("sem", "plain"):
        bench.server("FLUSHALL")
        lock = bench.lock(kind)
        lock.take(A, attempt(1), permits=2, total=3)
        lock.take(B, attempt(2), total=3)
        same(lock.give(A, attempt(1), permits=2), [RELEASED, 0, 0], kind)
        same(lock.give(A, attempt(1), permits=2), [LOST, 0, 0], kind)
        same(bench.server.value("x"), "2", kind)


def repeated_count_down_counts_once(bench):
    """a count-down repeated counts once"""
    latch = bench.lock("latch")
    latch.run("latch_set", A, LEASE, attempt(1), 3)
    for _ in range(3):
        same(latch.run("latch_down", A, LEASE, attempt(2), 1), [RELEASED, 2, 0])
    same(latch.run("latch_set", A, LEASE, attempt(1), 3), [RELEASED, 2, 0], "the set, repeated")


def repeated_set_sets_once(bench):
    """a set repeated sets once, also when the latch has opened since"""
    latch = bench.lock("latch")
    for repeats in range(2):
        same(latch.run("latch_set", A, LEASE, attempt(1), 1), [RELEASED, 1 - repeats, 0])
        same(latch.run("latch_down", B, LEASE, attempt(2), 1), [RELEASED, 0, 0])
    bench.ends_in(1200000, latch.key(f"rlock_tombstone:{attempt(1)}:{{*}}"))
    bench.forget(latch, 1, 2)
    bench.standing()


def late_count_down(bench):
    """latch: a count-down that arrives late counts once, whatever has become of the latch"""
    latch = bench.lock("latch")
    latch.run("latch_set", A, LEASE, attempt(1), 1)
    same(latch.run("latch_down", A, LEASE, attempt(2), 1), [RELEASED, 0, 0])
    latch.run("latch_set", A, LEASE, attempt(3), 2)
    bench.server.let_pass(1100000)
    same(latch.run("latch_down", A, LEASE, attempt(2), 1), [RELEASED, 2, 0], "of the latch before")
    same(latch.run("latch_down", A, LEASE, attempt(4), 1), [RELEASED, 1, 0])
    bench.server.let_pass(1100000)
    same(latch.run("latch_down", A, LEASE, attempt(4), 1), [RELEASED, 1, 0], "of this latch")


def late_count_down_of_none(bench):
    """latch: a count-down that arrives late counts once, whatever has become of the latch"""
    latch = bench.lock("latch")
    same(latch.run("latch_down", A, LEASE, attempt(1), 1), [LOST, 0, 0])
    latch.run("latch_set", A, LEASE, attempt(2), 2)
    same(latch.run("latch_down", A, LEASE, attempt(1), 1), [LOST, 2, 0])
    same(bench.server.value("x"), "2")


def late_resize(bench):
    """sem: a resize that arrives late changes nothing"""
    sem = bench.lock("sem")
    for number, permits in enumerate((50, 1), 1):
        same(sem.run("sem_resize", A, LEASE, attempt(number), permits), [RELEASED, permits, 0])
    same(sem.run("sem_resize", A, LEASE, attempt(1), 50)[0], RELEASED, "late")
    same(bench.server.value("x"), "1")


def renewal_does_not_outlive_the_release(bench):
    """a renewal does not outlive the release (#7272)"""
    for kind in ("run", "fair", "read", "write", "sem"):
        options = {"total": 3} if kind == "sem" else {}
        for keep in (0, 5000):
            bench.server("FLUSHALL")
            lock = bench.lock(kind)
            lock.take(A, attempt(1), **options)
            same(lock.give(A, attempt(1), keep=keep)[0], RELEASED, kind)
            same(lock.renew(A, attempt(1)), [LOST, 0, 0], f"{kind}, kept {keep}")
            bench.server.let_pass(keep)
            same(lock.take(B, attempt(2), **options)[0], GRANTED, kind)
            same(lock.give(B, attempt(2))[0], RELEASED, kind)
            bench.values({"x": "3"} if kind == "sem" else {})


def expired_hold_is_not_given_back(bench):
    """what has expired is not given back, though others keep its keys alive"""
    read, sem = bench.locks("read", "sem")
    read.take(A, attempt(1), lease=5000)
    read.take(B, attempt(2))
    bench.server.let_pass(5000)
    same(read.give(A, attempt(1)), [LOST, 0, 0])
    read.take(A, attempt(3), lease=5000)
    bench.server.let_pass(5000)
    read.take(A, attempt(3), lease=5000)  # repeated after all that time: a new one
    bench.ends_in(5000, lease_key(A))
    bench.server("FLUSHALL")
    sem.take(A, attempt(1), lease=5000, total=2)
    sem.take(B, attempt(2), total=2)
    bench.server.let_pass(5000)
    same(sem.give(A, attempt(1)), [LOST, 0, 0])
    same(bench.server.value("x"), "1")


def expired_write_stays_expired(bench):
    """a write lease that is over stays over when an inner hold ends

    The end of an inner hold is not a new lease for the outer one; their owner reads on."""
    read, write = bench.locks("read", "write")
    token = write.take(A, attempt(1), lease=5000)[1]
    write.take(B, attempt(2), lease=5000, proof=(A, token))
    read.take(C, attempt(3), proof=(A, token))
    bench.server.let_pass(5000)
    same(write.give(A, attempt(2), waiter=B), [LOST, 0, 0])
    same(bench.server.value("x"), {"mode": "read", A: "1"})
    same(write.renew(A, attempt(1)), [LOST, 0, 0])
    same(read.take(B, attempt(4))[0], GRANTED)


def late_request_of_a_waiter(bench):
    """a late request that takes it for one that waits takes it out of the line

    It takes the lock for one that has asked again since, and stands in line: its place goes."""
    for kind, other, marker in (("run", "run", None), ("read", "write", None), ("write", "write", "{x}:wait_write")):
        lock = bench.lock(kind)
        bench.lock(other).take(B, attempt(2))
        lock.take(A, attempt(1))
        bench.lock(other).give(B, attempt(2))
        same(lock.take(A, attempt(1), wait=False)[0], GRANTED)
        same(bench.server.keys() & {lock.keys[4], lock.keys[5], "rlock_writers:{x}", marker}, set(), kind)
        lock.give(A, attempt(1))
        bench.standing()
