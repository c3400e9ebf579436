"""--once-per: what is noted of runs that have ended, and who runs after them."""
import json

from bench import A, B, C, INFO, LEASE, LEASES, QUEUE, about, attempt, same
from client import BUSY, DONE, GRANTED, LOST, RELEASED, WRONG_KIND

RECORD = "rlock_last:{x}"
HOUR, DAY = 3600000, 86400000


def _ran(lock, number, period=HOUR, status=0, key=""):
    """One run, which must be wanted."""
    same(lock.take(A, attempt(number), period=period, once_key=key)[0], GRANTED)
    same(lock.give(A, attempt(number), ended=(period, status, 1500), once_key=key), [RELEASED, 0, 0])


def once_noted(bench):
    """--once-per: what is noted of a run, and for how long"""
    run = bench.lock("run")
    bench.hear(run.channel)
    _ran(run, 1)
    bench.standing(RECORD)
    bench.heard((run.channel, "0"))
    bench.ends_in(DAY, RECORD)
    record = bench.server.value(RECORD)
    same(sorted(record), ["done", "keep", "last", "success"])
    same((record["keep"], record["last"]), (str(HOUR), record["success"]))
    last = json.loads(record["last"])
    about(last.pop("ended"), bench.server.now())
    about(int(record["done"]), bench.server.now())
    same(last, {"host": "host", "pid": 42, "user": "user", "command": "command", "permits": 1,
                "status": 0, "took_ms": 1500})
    run.take(B, attempt(2))  # who does not ask for it
    run.give(B, attempt(2))
    same(bench.server.value(RECORD), record)


def once_within(bench):
    """--once-per: who comes within the time gets no lock, free or not, of run and fair; who comes later does"""
    run, fair = bench.locks("run", "fair")
    _ran(run, 1)
    bench.server.let_pass(HOUR - 5000)
    for number, lock in ((2, run), (3, fair)):
        for wait in (True, False):
            answer = lock.take(B, attempt(number), period=HOUR, wait=wait)
            about(answer[1], HOUR - 5000)
            same(answer[:1] + answer[2:], [DONE, 1500, "host", 42, "user", "command", 0])
    bench.standing(RECORD)
    same(fair.take(C, attempt(4))[0], GRANTED)  # without it
    same(fair.take(B, attempt(5), period=HOUR)[0], DONE, "while others hold it")
    same(fair.take(B, attempt(5), period=HOUR // 2)[0], BUSY, "a shorter time")
    same(bench.server.value(QUEUE), [B])
    same(fair.take(B, attempt(5), period=HOUR)[0], DONE, "who stands in line")
    fair.give(B, attempt(5))
    fair.give(C, attempt(4))
    bench.server.let_pass(5000)
    _ran(run, 6)


def once_key_alone(bench):
    """--once-key: only another key than the last that succeeded runs, with --once-per both must be new"""
    run, fair = bench.locks("run", "fair")
    _ran(run, 1, "", 1, key="k")
    _ran(run, 2, "", key="k")
    same(bench.server.value(RECORD)["key"], "k")
    same(fair.take(B, attempt(3), once_key="k")[::7], [DONE, 1], "because of the key")
    same(fair.take(B, attempt(4), once_key="k", period=1)[0], DONE, "both must be new")
    same(fair.take(B, attempt(5), once_key="K", period=HOUR)[7], 0, "because of the time")
    _ran(run, 6, "", 1, key="K")
    same(run.take(B, attempt(7), once_key="k")[0], DONE, "a failed run changes nothing")
    _ran(run, 8, "", key="K")
    _ran(run, 9, "", key="k")
    bench.server.let_pass(300 * DAY)
    same(run.take(B, attempt(10), once_key="k")[0], DONE)


def skips_counted(bench):
    """--max-skips: each skip counts once, until a run succeeds"""
    run = bench.lock("run")

    def skip(number):
        return run.run("skip", attempt(number), 0, attempt(number), 1, record=True)

    same([skip(1)[1], skip(2)[1], skip(2)[1], skip(3)[1]], [1, 2, 2, 3])
    for number, ended, count in ((4, None, 4), (6, ("", 1, 10), 5), (8, ("", 0, 10), 1)):  # None: nobody says how
        run.take(A, attempt(number))
        run.give(A, attempt(number), ended=ended)
        same(skip(number + 1)[1], count)


def once_longest(bench):
    """--once-per: the longest time that was asked for is how long the record stays"""
    run = bench.lock("run")
    _ran(run, 1, period=1000)
    bench.ends_in(DAY, RECORD)
    same(run.take(B, attempt(2), period=7 * DAY)[0], DONE)
    bench.ends_in(7 * DAY, RECORD)
    same(bench.server.value(RECORD)["keep"], str(7 * DAY))
    bench.server.let_pass(1000)
    same(run.take(B, attempt(3), period=1000)[0], GRANTED)
    same(run.give(B, attempt(3), ended=(1000, 0, 5)), [RELEASED, 0, 0])
    bench.ends_in(7 * DAY, RECORD)  # who asks for a week finds this one, too
    bench.server.let_pass(7 * DAY - 2000)
    same(run.take(B, attempt(4), period=7 * DAY)[0], DONE)
    bench.server.let_pass(2000)
    bench.standing()


def once_clock_set_back(bench):
    """--once-per: after the server's clock was set back the next run is at most one time later"""
    run = bench.lock("run")
    _ran(run, 1)
    bench.server.let_pass(-50 * DAY)
    same(run.take(B, attempt(2), period=HOUR)[:2], [DONE, 0])
    bench.ends_in(DAY, RECORD)
    bench.server.let_pass(HOUR)
    same(run.take(B, attempt(2), period=HOUR)[0], GRANTED)


def once_after_lost_replies(bench):
    """--once-per: a release sent again, or of a hold that is lost, notes nothing; a try that was granted is so again"""
    for _, lock in bench.each("run", "fair"):
        same(lock.take(A, attempt(1), period=HOUR)[0], GRANTED)
        bench.server("HSET", RECORD, "done", bench.server.now())
        same(lock.take(A, attempt(1), period=HOUR)[0], GRANTED)
        same(lock.give(A, attempt(1)), [RELEASED, 0, 0])
        bench.server("DEL", RECORD)
        _ran(lock, 2)
        before = bench.server.value(RECORD)
        same(lock.give(A, attempt(2), ended=(HOUR, 0, 1500)), [LOST, 0, 0])
        same(lock.take(B, attempt(3))[0], GRANTED)
        same(lock.give(A, attempt(2), ended=(HOUR, 1, 1500)), [LOST, 0, 0])
        bench.server("DEL", "x")  # B has lost it
        same(lock.give(B, attempt(3), ended=(HOUR, 0, 1500)), [LOST, 0, 0])
        same(bench.server.value(RECORD), before)


def once_and_others(bench):
    """--once-per: noted also without memory; a key of another kind is left alone"""
    run = bench.lock("run")
    same(run.take(A, attempt(1), period=HOUR)[0], GRANTED)
    with bench.no_memory():
        same(run.give(A, attempt(1), ended=(HOUR, 0, 5)), [RELEASED, 0, 0])
        same(run.take(B, attempt(2), period=DAY)[0], DONE)
    same(json.loads(bench.server("HGET", RECORD, "last"))["took_ms"], 5)
    bench.server("SET", RECORD, "mine")
    same(run.take(A, attempt(4), period=HOUR), [WRONG_KIND, 0, 0])
    same(run.take(A, attempt(5)), [GRANTED, run.token(), LEASE])
    bench.standing("x", INFO, LEASES, RECORD)
    same(run.give(A, attempt(5), ended=(HOUR, 0, 5)), [RELEASED, 0, 0])
    same(bench.server.value(RECORD), "mine")
