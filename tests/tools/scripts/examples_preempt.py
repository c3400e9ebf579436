"""--preempt: whom a waiter asks to end, and what it learns of that."""
from bench import A, B, BEAT, C, R, attempt, same
from client import BUSY, GRANTED, RELEASED

ASKED, NOT_AGREED = 1, 2
SOON = 500
AFTER_NOTE = 14


def _asked(answer):
    """Whether it was asked, and when to come again."""
    same(answer[0], BUSY)
    return answer[AFTER_NOTE:], answer[11]


def preempt_asks(bench):
    """--preempt: a holder that has agreed is asked to end, with each try, and others are not"""
    for kind in ("run", "fair"):
        lock = bench.lock(kind)
        same(lock.take(A, attempt(1), preemptible=True)[0], GRANTED)
        same(_asked(lock.take(B, attempt(2))), ([], BEAT), "without the option")
        same(_asked(lock.take(B, attempt(2), preempts_as="bob")), ([ASKED], SOON), "it does not listen yet")
        bench.hear(f"rlock_break:{A}")
        for _ in range(2):
            same(_asked(lock.take(B, attempt(2), preempts_as="bob"))[0], [ASKED])
            bench.heard((f"rlock_break:{A}", "preempt bob"))
        for wait in (True, False):
            same(_asked(lock.take(C, attempt(5), preempts_as="carol", wait=wait))[0], [], "only the first in line")
        lock.give(C, attempt(5))
        bench.heard()
        bench.listener.deafen(f"rlock_break:{A}")
        lock.give(B, attempt(2))
        lock.give(A, attempt(1))
        lock.take(A, attempt(3))
        bench.hear(f"rlock_break:{A}")
        same(_asked(lock.take(B, attempt(4), preempts_as="bob")), ([NOT_AGREED], BEAT))
        bench.heard()
        bench.listener.deafen(f"rlock_break:{A}")
        lock.give(B, attempt(4))
        lock.give(A, attempt(3))
        bench.standing()


def preempt_asks_holders_only(bench):
    """--preempt: who does not hold it is not asked: in line, kept by --min-hold, Redisson's"""
    run, fair = bench.locks("run", "fair")
    bench.hear(*(f"rlock_break:{owner}" for owner in (A, B, C, R)))
    run.take(A, attempt(1), preemptible=True)
    fair.take(B, attempt(2), preemptible=True)
    fair.take(C, attempt(3), preempts_as="carol")
    bench.heard()
    same(run.give(A, attempt(1)), [RELEASED, 0, 0])
    same(fair.take(C, attempt(3), preempts_as="carol")[AFTER_NOTE:], [], "it is free, and another's turn")
    bench.heard()
    fair.take(B, attempt(2), preemptible=True)
    fair.take(C, attempt(3), preempts_as="carol")
    bench.heard((f"rlock_break:{B}", "preempt carol"))
    fair.give(B, attempt(2), keep=5000)
    same(_asked(fair.take(C, attempt(3), preempts_as="carol"))[0], [NOT_AGREED])
    bench.server("DEL", "x")
    bench.server("HSET", "x", R, 1)
    bench.server("PEXPIRE", "x", 30000)
    same(_asked(fair.take(C, attempt(3), preempts_as="carol"))[0], [NOT_AGREED])
    bench.heard()
