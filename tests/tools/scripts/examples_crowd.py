"""What a script costs, however many wait or have died: commands are counted by INFO commandstats."""
import re

from bench import A, B, C, LEASE, PATIENCE, QUEUE, R, S, TIMEOUTS, WAITERS, about, attempt, nth, same
from client import BUSY, GRANTED, RELEASED

BEATS_AGAIN, SOON = 2500, 1
CROWDS = (10, 1000)
FREE = {"run": 20, "fair": 22, "read": 29, "write": 28, "sem": 27}  # commands of a take and a give-back


def _attempt(number):
    return attempt(0x10000 + number)


def _crowd(lock, size, first=0):
    """So many that wait, and none of them listens."""
    for number in range(first, first + size):
        same(lock.take(nth(number), _attempt(number), place="")[0], BUSY)


def cost_of_a_living_crowd(bench):
    """what a script of run or fair costs does not grow with those who wait"""
    for size in CROWDS:
        for kind, lock in bench.each("run", "fair"):
            lock.take(A, attempt(0xa))
            for first in range(0, size, 100):
                _crowd(lock, min(size, 100), first)
                _crowd(lock, min(size, 25))  # those at the front are heard of again, however long this takes
            for number in (0, size // 2, size - 1):
                again = bench.few(lock.take, nth(number), _attempt(number), place="1")[11]
                same(again, max(5000, 125 * size) if 20 < number < size - 5 else BEATS_AGAIN, f"{kind} {number}")
            same(bench.few(lock.give, A, attempt(0xa))[0], RELEASED)
            same(bench.few(lock.take, nth(0), _attempt(0), place="1")[0], GRANTED)
            bench.few(lock.give, nth(2), _attempt(2))  # leaves
            bench.few(lock.give, nth(size // 2), _attempt(size // 2))
            bench.few(lock.take, nth(size), _attempt(size))


def cost_of_a_free_lock(bench):
    """a free lock is taken and given back by few commands: what nearly always is so comes first in the scripts"""
    for kind, lock in bench.each(*FREE):
        for number in (1, 2):  # the first one sets a semaphore up
            same(bench.few(lock.take, A, attempt(number))[0], GRANTED)
            taken = bench.spent
            same(bench.few(lock.give, A, attempt(number))[0], RELEASED)
        same(taken + bench.spent <= FREE[kind], True, f"{kind}: {taken} and {bench.spent} commands")


def _rounded(value):
    """Times, which pass, to whole hundreds of seconds."""
    if isinstance(value, dict):
        return {field: _rounded(each) for field, each in value.items()}
    if isinstance(value, float):
        return round(value, -5)
    return re.sub(r"[0-9]{8}(?=[0-9]{5})[0-9]+", lambda at: at[0][:-5], str(value))


def _traces(bench, kind, slow):
    """What a take and a give-back of a lock that is free answer, say and leave; slow: not by what comes first in the
    scripts, for an argument more, an empty one, is asked for."""
    bench.server("FLUSHALL")
    lock, total = bench.lock(kind), ["3"] if kind == "sem" else []
    if kind == "sem":
        bench.server("SET", "x", "3")
    bench.hear(lock.channel)
    us = '"host":"host","pid":42,"user":"user","command":"command"'
    requests = (lock.take_script, "1", us, *total), (lock.give_script, "")
    for script, *more in requests:
        answer = bench.few(lock.run, script, A, LEASE, attempt(1), 1, *more, *[""] * slow)
        spent = bench.spent
        left = {key: (_rounded(value), round(ms, -3)) for key, (value, ms) in bench.server.see().items()}
        yield spent, (answer, left, bench.listener.heard())


def what_comes_first_does_the_same(bench):
    """a lock that is free: the short ways through the scripts do what the long ones do"""
    for kind in FREE:
        for (few, short), (many, long) in zip(_traces(bench, kind, False), list(_traces(bench, kind, True))):
            same(few < many, True, f"{kind}: {few} commands, {many} the long way")
            same(short, long, kind)


def dead_crowd_is_passed_over(bench):
    """a thousand dead fair waiters in front are passed over a few at a time, within ten seconds"""
    for size in bench.afresh(*CROWDS):
        lock, spent = bench.lock("fair"), 0
        lock.take(A, attempt(0xa))
        _crowd(lock, size)
        bench.hear(lock.own_channel(B))
        lock.take(B, attempt(0xb))
        bench.few(lock.give, A, attempt(0xa))
        while (answer := bench.few(lock.take, B, attempt(0xb), place="2"))[0] != GRANTED:
            spent += answer[11]
            same(spent < 10000, True, f"{size} dead, after {spent} ms")
            if answer[11] > SOON:
                bench.server.let_pass(answer[11])
        same(bench.server.value(QUEUE), None)
        lock.give(B, attempt(0xb))
        bench.standing()


def _script_us(bench):
    """How many scripts have run, and for how long in all."""
    runs = re.findall(r"cmdstat_eval(?:sha)?:calls=(\d+),usec=(\d+)", bench.server("INFO", "commandstats"))
    return [sum(map(int, numbers)) for numbers in zip(*runs)]


def thousands_of_dead(bench):
    """six thousand dead fair waiters in front make no script longer, and are passed over within ten seconds"""
    lock, owners, spent = bench.lock("fair"), [nth(number) for number in range(6000)], 0
    lock.take(A, attempt(0xa))
    now = bench.server.now()
    bench.server("RPUSH", QUEUE, *owners)
    bench.server("ZADD", TIMEOUTS, *[word for owner in owners for word in (now + PATIENCE, owner)])
    bench.server("ZADD", "rlock_queue:{x}", *[word for number, owner in enumerate(owners) for word in (now - 9000 + number, owner)])
    bench.hear(lock.own_channel(B))
    lock.take(B, attempt(0xb))
    bench.few(lock.give, A, attempt(0xa))
    calls, us = _script_us(bench)
    while (answer := bench.few(lock.take, B, attempt(0xb), place="2"))[0] != GRANTED:
        spent += answer[11]
        same(spent < 10000, True, f"after {spent} ms")
        if answer[11] > SOON:
            bench.server.let_pass(answer[11])
    calls, us = (after - before for after, before in zip(_script_us(bench), (calls, us)))
    same(us / calls < 1500, True, f"{us / calls} us a script")
    same(bench.server.value(QUEUE), None)


def dead_among_the_living(bench):
    """dead fair waiters, wherever they stand among living ones, are passed over, and these enter in their order"""
    lock, size = bench.lock("fair"), 60
    lock.take(A, attempt(0xa))
    _crowd(lock, size)
    living = [number for number in range(size) if number % 3 == 2]
    by_channel = {lock.own_channel(nth(number)): number for number in living}
    bench.hear(*by_channel)
    due, ticket, got = {number: 0 for number in living}, {}, []
    lock.give(A, attempt(0xa))
    now = last = 0
    while due:
        number = min(due, key=due.get)
        if due[number] - now > SOON:
            bench.server.let_pass(due[number] - now)
            now = due[number]
        answer = lock.take(nth(number), _attempt(number), place="1", ticket=ticket.get(number, ""))
        if answer[0] == GRANTED:
            got.append(number)
            same(now - last < 10000, True, f"{number} waited for {now - last} ms")
            last = now
            lock.give(nth(number), _attempt(number))
            del due[number]
        else:
            due[number], ticket[number] = now + answer[11], answer[12]
        for channel, word in bench.listener.heard():
            if (who := by_channel[channel]) in due:
                due[who] = now if word == "0" else min(due[who], now + BEATS_AGAIN)
    same(got, living, "the order")
    bench.standing()


def clock_set_back(bench):
    """the server's clock is set back by a minute: a fair waiter that dies or stands still is passed over all the same, and
    a writer that was stopped keeps readers out for seconds only"""
    cases = ("fair", "fair", "2", True), ("fair", "fair", "2", False), ("read", "write", "1", True)
    for kind, other, place, hears in bench.afresh(*cases):
        lock, stopped = bench.locks(kind, other)
        bench.listener.deafen(lock.own_channel(B))
        if hears:
            bench.hear(stopped.own_channel(B))
        lock.take(A, attempt(1))
        stopped.take(B, attempt(2))
        lock.take(C, attempt(3))
        bench.server.let_pass(-60000)
        lock.give(A, attempt(1))
        for _ in range(3):
            same(lock.take(C, attempt(3), place=place)[0], BUSY, kind)
            bench.server.let_pass(2400)
        same(lock.take(C, attempt(3), place=place)[0], GRANTED, kind)


def tries_far_apart(bench):
    """a waiter whose tries are as far apart as after a silence each passes a dead one that stands before it all the same"""
    for kind, lock in bench.each("run", "fair"):
        lock.take(A, attempt(1))
        lock.take(B, attempt(2))
        lock.take(C, attempt(3))
        for _ in range(3):
            bench.server.let_pass(5000)
            lock.take(C, attempt(3), place="2")
        same(list(bench.server.value(QUEUE if kind == "fair" else WAITERS)), [C], kind)


def scores_are_redissons(bench):
    """the scores of the fair queue are Redisson's: that of the one before and a patience; who leaves moves those behind it"""
    lock = bench.held("fair")
    now = bench.server.now()
    bench.queue((R, LEASE + 20000))  # tryLock(20 s)
    lock.take(B, attempt(2))
    bench.stand({R: LEASE + 20000, B: LEASE + 20000 + PATIENCE}, now)
    bench.queue((S, LEASE + 40000 + PATIENCE))
    lock.take(C, attempt(3))
    about(bench.server.value(TIMEOUTS)[C], now + LEASE + 40000 + 2 * PATIENCE)
    lock.give(B, attempt(2))
    bench.stand({R: LEASE + 20000, S: LEASE + 40000, C: LEASE + 40000 + PATIENCE}, now)
    bench.for_ever(QUEUE, TIMEOUTS)
    bench.server.let_pass(LEASE + 20000)
    same(lock.take(C, attempt(3))[0:4:3], [BUSY, S])  # R's time is over
    bench.server.let_pass(21000)
    same(lock.take(C, attempt(3))[0], GRANTED)
    lock.give(C, attempt(3))
    bench.standing()


def scores_where_one_is_superseded(bench):
    """fair --supersede: who of Redisson's stood behind the one that goes is nearer by a place"""
    lock = bench.held("fair")
    now = bench.server.now()
    lock.take(B, attempt(2), variant="supersede")
    bench.queue((R, LEASE + 2 * PATIENCE))
    lock.take(C, attempt(3), variant="supersede")
    bench.stand({R: LEASE + PATIENCE, C: LEASE + 2 * PATIENCE}, now)
