"""A key of another kind is not touched; a server without memory does no harm."""
from bench import A, B, HOLD, LEASE, attempt, lease_key, same
from client import BUSY, GRANTED, LOST, RELEASED, WRONG_KIND, ServerError

ALL = ("run", "fair", "read", "write", "sem", "plain")
STANDS = {  # what is under the name: commands that put it there
    "text": (("SET", "x", "text"),),
    "empty text": (("SET", "x", ""),),
    "decimal number": (("SET", "x", "1.5"),),
    "hexadecimal number": (("SET", "x", "0x10"),),
    "infinity": (("SET", "x", "inf"),),
    "number too long": (("SET", "x", "9" * 20),),
    "padded number": (("SET", "x", " 7"),),
    "list": (("RPUSH", "x", A),),
    "set": (("SADD", "x", A),),
    "zset": (("ZADD", "x", 1, A),),
    "stream": (("XADD", "x", "1-1", A, 1),),
    "hash of two": (("HSET", "x", A, 1, "other", 1),),
    "hash of text": (("HSET", "x", A, "text"),),
    "hash with a number as mode": (("HSET", "x", "mode", 1),),
    "hash with only a mode": (("HSET", "x", "mode", "odd"),),
    "mutex": (("HSET", "x", A, 1), ("PEXPIRE", "x", LEASE)),
    "readers": (("HSET", "x", "mode", "read", A, 1), ("SET", lease_key(A), 1)),
    "writer": (("HSET", "x", "mode", "write", A + ":write", 1),),
    "number": (("SET", "x", "7"),),
    "latch": (("SET", "x", "7"), ("HSET", HOLD, "latch", 1)),
}
OWN = {"run": ["mutex"], "fair": ["mutex"], "read": ["readers", "writer"], "write": ["readers", "writer"],
       "sem": ["number"], "plain": ["number"], "latch": ["number", "latch"]}


def _calls(lock):
    """All scripts of a kind, each with the answer to be given on a key of another kind."""
    for total in ("", 3) if lock.kind in ("sem", "plain") else ("",):
        for wait in (True, False):
            yield WRONG_KIND, lock.take, (A, attempt(1)), {"wait": wait, "total": total}
    if lock.renew_script:
        yield LOST, lock.renew, (A, attempt(1)), {}
    if lock.give_script:
        for keep in (0, 5000):
            yield LOST, lock.give, (A, attempt(1)), {"keep": keep}
    for script in {"latch": ("latch_set", "latch_down"), "sem": ("sem_resize",)}.get(lock.kind, ()):
        yield WRONG_KIND, lock.run, (script, A, LEASE, attempt(1), 3), {}


def another_kind(bench):
    """no script touches a key of another kind"""
    for kind, own in OWN.items():
        for what, commands in ((each, STANDS[each]) for each in STANDS if each not in own):
            for expected, script, words, options in bench.afresh(*_calls(bench.lock(kind))):
                for command in commands:
                    bench.server(*command)
                before, dump = bench.server.see(), bench.server("DUMP", "x")
                same(script(*words, **options)[0], expected, f"{kind} {script.__name__} {words} on {what}")
                same((bench.changes(before), bench.server("DUMP", "x")), ({}, dump), f"{kind} {words} on {what}")
                bench.ends_in(before["x"][1], "x")


def _unless_refused(script, *words, **options):
    """The answer; None: there is no memory for it."""
    try:
        return script(*words, **options)
    except ServerError as error:
        same("OOM command not allowed" in str(error), True, error)
        return None


def out_of_memory_takes_nothing(bench):
    """out of memory: nothing is half taken, who waits has a place in line, and what is held is given back; afterwards the
    first to come gets it"""
    for held in (False, True):
        for kind, lock in bench.each(*ALL):
            if held:
                lock.take(B, attempt(2), permits=lock.total or 1)
            before = bench.server.see()
            with bench.no_memory():
                answer = _unless_refused(lock.take, A, attempt(1), wait=False)
            if not answer:
                same(bench.server.see().keys(), before.keys(), f"{kind} {held}")
            if held and kind != "read":
                same(bench.server.value("x"), before["x"][0], kind)
                with bench.no_memory():
                    for _ in range(2):
                        same(lock.take(A, attempt(3))[:3:2], [BUSY, 1], kind)
                    same(lock.give(B, attempt(2), permits=lock.total or 1)[0], RELEASED, kind)
                lock.give(A, attempt(3))
            same(lock.take(A, attempt(1))[0], GRANTED, kind)


def out_of_memory_latch(bench):
    """out of memory: a latch opens"""
    latch = bench.lock("latch")
    with bench.no_memory():
        same(_unless_refused(latch.run, "latch_set", A, LEASE, attempt(1), 2), None)
        bench.standing()
    latch.run("latch_set", A, LEASE, attempt(1), 2)
    with bench.no_memory():
        answer = _unless_refused(latch.run, "latch_down", A, LEASE, attempt(2), 1)
        same(answer in (None, [RELEASED, 1, 0]), True, answer)
    latch.run("latch_down", A, LEASE, attempt(2), 1)
    same(bench.server.value("x"), "1")
    with bench.no_memory():
        same(latch.run("latch_down", A, LEASE, attempt(3), 1), [RELEASED, 0, 0], "opening")
    bench.forget(latch, 1, 2, 3)
    bench.standing()
