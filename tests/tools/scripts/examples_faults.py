"""What is wrong with Redisson's own scripts, each shown not to be here."""
from bench import A, B, C, INFO, LEASE, PATIENCE, QUEUE, R, TIMEOUTS, about, attempt, lease_key, same
from client import BUSY, LOST, RELEASED


def live_waiters_stay_for_hours(bench):
    """live fair waiters stay, however long they wait: they beat, and their scores stay ahead, so that Redisson keeps them
    (#3004, #3730, #1104)"""
    fair = bench.held("fair", lease=86400000)
    for _ in range(6):
        bench.server.let_pass(2500)
        for number, owner in ((2, B), (3, C)):
            same(fair.take(owner, attempt(number))[0:3:2], [BUSY, number - 1])
    bench.server("ZADD", TIMEOUTS, bench.server.now() - 1, B)  # the score alone does not count
    same(fair.take(C, attempt(3))[2], 2)
    same(fair.take(B, attempt(2))[2], 1)
    about(bench.server.value(TIMEOUTS)[B], bench.server.now() + 86400000 - 15000 + PATIENCE)
    same(bench.server.value(QUEUE), [B, C])


def server_away_drops_nobody(bench):
    """while the server is away nobody can beat, and nobody is dropped, by a try that does not wait either, which the dead
    do not block for long"""
    fair = bench.held("fair", lease=60000)
    for number, owner in ((2, B), (3, C)):
        fair.take(owner, attempt(number))
    bench.server.let_pass(9000)
    fair.take(R, attempt(4), wait=False)
    same(bench.server.value(QUEUE), [B, C])
    for owner, number in ((C, 2), (B, 1)):
        same(fair.take(owner, attempt(number + 1))[0:3:2], [BUSY, number])
    for _ in range(5):
        bench.server.let_pass(3000)
        fair.take(R, attempt(4), wait=False)
    same(bench.server.value(QUEUE), None)


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


def late_resize(bench):
    """sem: a resize that arrives late changes nothing"""
    sem = bench.lock("sem")
    for number, permits in enumerate((50, 1), 1):
        same(sem.run("sem_resize", A, LEASE, attempt(number), permits), [RELEASED, permits, 0])
    same(sem.run("sem_resize", A, LEASE, attempt(1), 50)[0], RELEASED, "late")
    same(bench.server.value("x"), "1")


def expired_hold_is_not_given_back(bench):
    """what has expired is not given back, though others keep its keys alive"""
    read = bench.lock("read")
    read.take(A, attempt(1), lease=5000)
    read.take(B, attempt(2))
    bench.server.let_pass(5000)
    same(read.give(A, attempt(1)), [LOST, 0, 0])
    read.take(A, attempt(3), lease=5000)
    bench.server.let_pass(5000)
    read.take(A, attempt(3), lease=5000)  # repeated after all that time: a new one
    bench.ends_in(5000, lease_key(A))
