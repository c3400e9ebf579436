"""A key of another kind is not touched; a server without memory does no harm."""
from bench import A, B, LEASE, attempt, lease_key, same
from client import BUSY, GRANTED, KEPT, LOST, RELEASED, STILL_HELD, WRONG_KIND, ServerError

NEITHER = {  # what stands under the name: commands that put it there
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
}
MUTEX = {"mutex": (("HSET", "x", A, 1), ("PEXPIRE", "x", LEASE))}
READ = {"readers": (("HSET", "x", "mode", "read", A, 1), ("SET", lease_key(A), 1))}
WRITE = {"writer": (("HSET", "x", "mode", "write", A + ":write", 1),)}
COUNT = {"number": (("SET", "x", "7"),)}
FOREIGN = {
    "run": {**NEITHER, **READ, **WRITE, **COUNT}, "fair": {**NEITHER, **READ, **WRITE, **COUNT},
    "read": {**NEITHER, **MUTEX, **COUNT}, "write": {**NEITHER, **MUTEX, **COUNT},
    "sem": {**NEITHER, **MUTEX, **READ, **WRITE}, "plain": {**NEITHER, **MUTEX, **READ, **WRITE},
    "latch": {**NEITHER, **MUTEX, **READ, **WRITE},
}


def _calls(lock):
    """All scripts of a kind, each with the answer to be given on a key of another kind."""
    more = {"latch": ("latch_set", "latch_down"), "sem": ("sem_resize",)}
    for total in ("", 3) if lock.kind in ("sem", "plain") else ("",):
        for wait in (True, False):
            options = {"wait": wait, "total": total}
            yield "take", WRONG_KIND, lambda options=options: lock.take(A, attempt(1), **options)
    if lock.renew_script:
        yield "renew", LOST, lambda: lock.renew(A, attempt(1))
    if lock.give_script:
        for keep in (0, 5000):
            yield "give", LOST, lambda keep=keep: lock.give(A, attempt(1), keep=keep)
    for script in more.get(lock.kind, ()):
        yield script, WRONG_KIND, lambda script=script: lock.run(script, A, LEASE, attempt(1), 3)


def _untouched(bench, kind):
    lock = bench.lock(kind)
    for what, commands in FOREIGN[kind].items():
        for name, expected, call in _calls(lock):
            bench.server("FLUSHALL")
            for command in commands:
                bench.server(*command)
            before = bench.server.see()
            dump = bench.server("DUMP", "x")
            try:
                answer = call()
            except ServerError as error:
                answer = [str(error)]
            same(answer[0], expected, f"{kind} {name} on {what}")
            after = bench.server.see()
            same({key: value for key, (value, _) in after.items()},
                 {key: value for key, (value, _) in before.items()}, f"{kind} {name} on {what}")
            same(bench.server("DUMP", "x"), dump, f"{kind} {name} on {what}")
            bench.ends_in(before["x"][1], "x")


def run_on_another_kind(bench):
    """run touches no key of another kind"""
    _untouched(bench, "run")


def fair_on_another_kind(bench):
    """fair touches no key of another kind"""
    _untouched(bench, "fair")


def read_on_another_kind(bench):
    """read touches no key of another kind"""
    _untouched(bench, "read")


def write_on_another_kind(bench):
    """write touches no key of another kind"""
    _untouched(bench, "write")


def sem_on_another_kind(bench):
    """sem touches no key of another kind"""
    _untouched(bench, "sem")


def plain_on_another_kind(bench):
    """sem --plain touches no key of another kind"""
    _untouched(bench, "plain")


def latch_on_another_kind(bench):
    """latch touches no key of another kind"""
    _untouched(bench, "latch")


def _memory(bench, limit):
    bench.server("CONFIG", "SET", "maxmemory", limit)


def _refused(call):
    """The answer, or OOM."""
    try:
        return call()
    except ServerError as error:
        same("OOM command not allowed" in str(error), True, error)
        return "OOM"


def out_of_memory_renews_and_gives_back(bench):
    """out of memory: all that is held is renewed and given back"""
    for kind in ("run", "fair", "read", "write", "sem", "plain"):
        options = {"permits": 2} if kind in ("sem", "plain") else {}
        total = {"total": 3} if options else {}
        for nested in (False, True):
            bench.server("FLUSHALL")
            lock = bench.lock(kind)
            token = lock.take(A, attempt(1), **options, **total)[1]
            if nested and not options:
                lock.take(B, attempt(2), proof=(A, token))
            bench.server.let_pass(10000)
            _memory(bench, 1)
            try:
                if lock.renew_script:
                    same(lock.renew(A, attempt(1), **options), [KEPT, LEASE, 0], kind)
                if nested and not options:
                    same(lock.give(A, attempt(2), waiter=B)[0], STILL_HELD, kind)
                same(lock.give(A, attempt(1), **options)[0], RELEASED, kind)
            finally:
                _memory(bench, 0)
            bench.values({"x": "3"} if options else {})


def out_of_memory_takes_nothing(bench):
    """out of memory: nothing is half taken. Nothing is half done: afterwards the first to come gets it."""
    for kind in ("run", "fair", "read", "write", "sem", "plain"):
        lock, total = bench.lock(kind), {"total": 3} if kind in ("sem", "plain") else {}
        for held in (False, True):
            bench.server("FLUSHALL")
            if held:
                lock.take(B, attempt(2), permits=3 if total else 1, **total)
            before = bench.server.see()
            _memory(bench, 1)
            try:
                answer = _refused(lambda: lock.take(A, attempt(1), wait=False, **total))
            finally:
                _memory(bench, 0)
            if answer == "OOM":
                same(bench.server.see().keys(), before.keys(), f"{kind} {held}")
            if held and kind != "read":
                same(bench.server.value("x"), before["x"][0], kind)
                lock.give(B, attempt(2), permits=3 if total else 1)
            same(lock.take(A, attempt(1), **total)[0], GRANTED, kind)


def out_of_memory_waits(bench):
    """out of memory: who waits has a place in line. Who comes to wait gets its place, and keeps it."""
    for kind in ("run", "fair", "write", "sem", "plain"):
        lock, total = bench.lock(kind), {"total": 3} if kind in ("sem", "plain") else {}
        bench.server("FLUSHALL")
        lock.take(B, attempt(2), permits=3 if total else 1, **total)
        _memory(bench, 1)
        try:
            for _ in range(2):
                same(lock.take(A, attempt(1), **total)[:3:2], [BUSY, 1], kind)
        finally:
            _memory(bench, 0)


def out_of_memory_latch(bench):
    """out of memory: a latch opens"""
    latch = bench.lock("latch")
    _memory(bench, 1)
    try:
        same(_refused(lambda: latch.run("latch_set", A, LEASE, attempt(1), 2)), "OOM")
        bench.standing()
    finally:
        _memory(bench, 0)
    latch.run("latch_set", A, LEASE, attempt(1), 2)
    _memory(bench, 1)
    try:
        answer = _refused(lambda: latch.run("latch_down", A, LEASE, attempt(2), 1))
        same(answer in ("OOM", [RELEASED, 1, 0]), True, answer)
    finally:
        _memory(bench, 0)
    latch.run("latch_down", A, LEASE, attempt(2), 1)
    same(bench.server.value("x"), "1")
    _memory(bench, 1)
    try:
        same(latch.run("latch_down", A, LEASE, attempt(3), 1), [RELEASED, 0, 0], "opening")
    finally:
        _memory(bench, 0)
    bench.forget(latch, 1, 2, 3)
    bench.standing()
