"""Semaphores and latches that are used by many: what one script costs, and whose turn it is."""
from bench import A, B, C, HOLD, INFO, LEASE, WAITERS, attempt, same
from client import BUSY, GRANTED, KEPT, LOST, RELEASED

BEATS, WANTS = "rlock_beats:{x}", "rlock_wants:{x}"
MOST = 40  # commands of one script
PATIENCE = 5001  # ms


def _owner(number):
    return f"{number:08x}-2222-4333-8444-555555555555:{number}@host"


def _commands(bench, call):
    """How many one script has run; and its answer."""
    before = bench.server.commands()
    answer = call()
    return bench.server.commands() - before, answer


def _few(bench, what, code, call):
    number, answer = _commands(bench, call)
    same(answer[0], code, what)
    same(number <= MOST, True, f"{what}: {number} commands")


def _crowd(bench, number, wants):
    """So many stand in line, and nobody of them listens."""
    now = bench.server.now()
    for i in range(number):
        bench.server("ZADD", WAITERS, now * 1000 + i, _owner(i))
        if wants > 1:
            bench.server("HSET", WANTS, _owner(i), wants)
        if i < 16:
            _beats(bench, _owner(i), 7000)


def _beats(bench, owner, left):
    """It was heard of, and is not dead for so many ms."""
    bench.server("HSET", BEATS, owner, f"beats {bench.server.now() - 7000 + left:.0f}")


def few_commands_beside_waiters(bench):
    """sem: one script runs 40 commands at most, however many wait"""
    for kind in ("sem", "plain"):
        for number in (10, 1000):
            for wants in (1, 2):
                what = f"{kind}, {number} wait for {wants}"
                bench.server("FLUSHALL")
                lock = bench.lock(kind)
                lock.take(A, attempt(1), total=2)
                lock.take(B, attempt(2), total=2)
                _crowd(bench, number, wants)
                _few(bench, f"{what}: comes", BUSY, lambda: lock.take(C, attempt(3), permits=wants))
                _few(bench, f"{what}: beats", BUSY, lambda: lock.take(C, attempt(3), permits=wants, place="2"))
                _few(bench, f"{what}: given back", RELEASED, lambda: lock.give(A, attempt(1)))
                _few(bench, f"{what}: taken", GRANTED, lambda: lock.take(C, attempt(4)))
                _few(bench, f"{what}: gone", LOST, lambda: lock.give(_owner(0), attempt(5)))
                _few(bench, f"{what}: resized", RELEASED, lambda: lock.run("sem_resize", A, LEASE, attempt(9), 50))


def few_commands_where_some_fit(bench):
    """sem: and whoever of them can enter, or has died

    One permit is free; who stands first asks for more, is old or young, dead or alive."""
    for age in (0, PATIENCE):
        for due in (7000, 3000, -1):
            for owner in (_owner(0), _owner(20), C):
                what = f"waits for {age} ms, heard of for {due} ms more, {owner}"
                bench.server("FLUSHALL")
                lock = bench.lock("sem")
                lock.take(A, attempt(1), permits=3, total=4)
                _crowd(bench, 40, 2)
                bench.server("HDEL", WANTS, *map(_owner, range(2, 10)))
                for i in range(40):
                    bench.server("ZINCRBY", WAITERS, -age, _owner(i))
                for i in range(15):
                    _beats(bench, _owner(i), due)
                for place in ("", "2", "2"):
                    _few(bench, f"{what}: busy", BUSY, lambda: lock.take(owner, attempt(3), permits=2, place=place))
                _few(bench, f"{what}: given back", RELEASED, lambda: lock.give(A, attempt(1), permits=3))
                _few(bench, f"{what}: gone", LOST, lambda: lock.give(_owner(1), attempt(5)))


def few_commands_beside_holders(bench):
    """sem: and however many hold permits, or have died with them, of this name or of {this}"""
    for number in (10, 1000):
        bench.server("FLUSHALL")
        lock = bench.lock("sem")
        what = f"{number} hold it"
        for i in range(1, number):
            lock.take(_owner(i), attempt(i), lease=5000, total=number)
        last = attempt(number)
        _few(bench, f"{what}: taken", GRANTED, lambda: lock.take(B, last, total=number))
        _few(bench, f"{what}: busy", BUSY, lambda: lock.take(C, attempt(number + 1), permits=5))
        _few(bench, f"{what}: renewed", KEPT, lambda: lock.renew(B, last))
        _few(bench, f"{what}: checked", KEPT, lambda: lock.run("sem_check", B, 0, "", 0, lock.token()))
        _few(bench, f"{what}: given back", RELEASED, lambda: lock.give(B, last))
        bench.server.let_pass(5000)
        _few(bench, f"{what}, all dead: taken", GRANTED, lambda: lock.take(B, last))
        same(bench.server.value("x"), str(number - 1), what)


def few_commands_for_many_permits(bench):
    """sem: and however many are taken at once"""
    lock = bench.lock("sem")
    many = {"permits": 10000}
    _few(bench, "taken", GRANTED, lambda: lock.take(A, attempt(1), total=10000, **many))
    _few(bench, "renewed", KEPT, lambda: lock.renew(A, attempt(1), **many))
    _few(bench, "given back", RELEASED, lambda: lock.give(A, attempt(1), **many))
    bench.values({"x": "10000"})
    lock.take(A, attempt(1), lease=5000, **many)
    bench.server.let_pass(5000)
    same(lock.take(B, attempt(2), **many)[0], GRANTED, "those of the dead")


def the_first_has_its_turn(bench):
    """sem: who asks for several is not overtaken for ever"""
    for kind in ("sem", "plain"):
        bench.server("FLUSHALL")
        lock = bench.lock(kind)
        lock.take(A, attempt(1), permits=2, total=3)
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
    """sem: but nobody waits for one that is dead, or asks for more than there is"""
    lock = bench.lock("sem")
    lock.take(A, attempt(1), permits=2, total=3)
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


def plain_turns_end(bench):
    """sem --plain: nor for what may never come back"""
    lock = bench.lock("plain")
    lock.take(A, attempt(1), permits=2, total=3)
    lock.take(B, attempt(2), permits=2)
    bench.server("ZINCRBY", WAITERS, -PATIENCE, B)
    same(lock.take(C, attempt(3), wait=False)[0], BUSY)
    bench.server("ZINCRBY", WAITERS, -PATIENCE, B)
    same(lock.take(C, attempt(3), wait=False)[0], GRANTED)


def permits_wake_one_after_the_other(bench):
    """sem: all permits that come back are used, though some of the waiters stand still

    Whoever comes wakes more, as long as there are permits; nobody waits for one that stands still."""
    lock = bench.lock("sem")
    lock.take(A, attempt(99), permits=40, total=40)
    waiting = [_owner(i) for i in range(40)]
    for i, owner in enumerate(waiting):
        lock.take(owner, attempt(i + 1))
    bench.hear(*map(lock.own_channel, waiting))
    lock.give(A, attempt(99), permits=40)
    still, inside = {_owner(0), _owner(3)}, set()
    woken = {channel for channel, said in bench.listener.heard() if said == "0"}
    while woken:
        owner = waiting[[lock.own_channel(each) for each in waiting].index(min(woken))]
        woken.remove(lock.own_channel(owner))
        if owner not in still | inside:
            same(lock.take(owner, attempt(waiting.index(owner) + 1))[0], GRANTED)
            inside.add(owner)
        woken |= {channel for channel, said in bench.listener.heard() if said == "0"}
    same(inside | still, set(waiting))


def permits_that_stand_are_not_taken_twice(bench):
    """sem: permits that stand, though nobody knows whose they are, are not taken twice

    Their hold expired, and then the server's clock was set back: they are in use again."""
    for permits, total in ((1, 2), (2, 5)):
        lock = bench.lock("sem")
        lock.take(A, attempt(1), permits=permits, total=total)
        bench.server("DEL", HOLD, INFO)
        same(lock.take(A, attempt(1), permits=permits, total=total)[0], GRANTED)
        same(bench.server.value("x"), str(total - permits))
        lock.give(A, attempt(1), permits=permits)
        bench.values({"x": str(total)})
        bench.server("DEL", "x")
