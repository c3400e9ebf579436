"""Many readers, alive or dead: no script runs more than a few commands, and all are soon in."""
from bench import A, B, C, LEASE, R, attempt, nth, same
from client import BUSY, GRANTED, KEPT, RELEASED

MOST, FEW, MANY = 42, 10, 1000


def _enter(lock, count, lease=LEASE):
    for number in range(1, count + 1):
        same(lock.take(nth(number), attempt(number), lease=lease)[0], GRANTED)


def _counted(bench, expected, script, *words, **options):
    """Its answer is as expected; returns how many commands it has run."""
    same(bench.few(script, *words, most=MOST, **options)[0], expected)
    return bench.spent


def crowd_of_readers(bench):
    """readers: whoever comes, waits, renews or leaves runs as many commands among 1,000 as among ten"""
    read, write = bench.locks("read", "write")
    counts = []
    for size in bench.afresh(FEW, MANY):
        _enter(read, size)
        counts.append([  # A's lease is the longest by far: the lock's is cut when A leaves
            _counted(bench, GRANTED, read.take, A, attempt(0x1001), lease=2 * LEASE),
            _counted(bench, KEPT, read.renew, A, attempt(0x1001), lease=2 * LEASE),
            _counted(bench, RELEASED, read.give, A, attempt(0x1001)),
            _counted(bench, BUSY, write.take, B, attempt(0x1002)),
            _counted(bench, BUSY, write.take, B, attempt(0x1002)),
            _counted(bench, BUSY, read.take, C, attempt(0x1003)),
            _counted(bench, RELEASED, read.give, nth(1), attempt(1))])
    for few, many in zip(*counts):
        same(many <= few + 2, True, f"{counts}")


def dead_crowd_of_readers(bench):
    """readers: 1,000 that are dead hold a writer up no longer than the one that lives, and no script takes them all out"""
    read, write = bench.locks("read", "write")
    for living in bench.afresh(A, R):
        _enter(read, MANY)
        if living == A:
            read.take(A, attempt(0x1001), lease=3 * LEASE)
        else:
            bench.reader(R, 3 * LEASE)
        bench.server.let_pass(LEASE)
        _counted(bench, BUSY, write.take, B, attempt(0x1002))
        _counted(bench, BUSY, write.take, B, attempt(0x1002))
        if living == A:
            _counted(bench, RELEASED, read.give, A, attempt(0x1001))
            _counted(bench, GRANTED, write.take, B, attempt(0x1002))


def crowd_of_redissons_dead(bench):
    """Redisson's dead readers are taken out a few at a time, by a writer that comes again at once while there are more"""
    write = bench.lock("write")
    for number in range(50):
        bench.server("HSET", "x", "mode", "read", f"{number:08x}-2222-4333-8444-555555555555:7", 2)
    bench.server("PEXPIRE", "x", LEASE)
    tries = 1
    while (answer := write.take(B, attempt(2)))[0] == BUSY:
        same(answer[11] < 100, True, "comes again in ms")
        tries += 1
    same(tries < 20, True, f"{tries} tries")


def readers_wake_readers(bench):
    """readers that wait are woken by those who come in, past the dead, in a few hops

    Two by the writer that leaves, two by each that comes in: whoever in line is dead."""
    read, write = bench.locks("read", "write")
    write.take(A, attempt(0x1001))
    count = 60
    deaf = {3, 4, 9, 20}
    for number in range(1, count + 1):
        same(read.take(nth(number), attempt(number))[0], BUSY)
        if number not in deaf:
            bench.hear(read.own_channel(nth(number)))
    bench.listener.heard()
    read.take(B, attempt(0x1002), proof=(A, "1"))  # a downgrade
    _counted(bench, RELEASED, write.give, A, attempt(0x1001))
    hops, inside = 0, set()
    while told := {int(channel.split(":")[-1].split("@")[0]) for channel, said in bench.listener.heard()
                   if said == "0"} - inside:
        hops += 1
        for number in sorted(told):
            inside.add(number)
            _counted(bench, GRANTED, read.take, nth(number), attempt(number))
        same(hops <= 10, True, f"{hops} hops")
    same(inside, set(range(1, count + 1)) - deaf)
