"""A hold that is put back on a server that has lost it: owner, token and id are those of the other servers."""
from bench import A, B, C, INFO, LEASE, LEASES, R, attempt, lease_key, same
from client import BUSY, KEPT, LOST, REENTERED, RELEASED, STILL_HELD, WRONG_KIND

APART, OVER = -6, -4
TOKEN = "redisson_lock_token:{x}"
FIELDS = {"run": "{}", "read": "{}", "write": "{}:write"}


def _kinds(bench):
    for kind, lock in bench.each(*FIELDS):
        yield kind, lock, FIELDS[kind].format(A)


def restored_where_it_is_free(bench):
    """restore: where it is free, with the token that the others know, which no later one is below"""
    for kind, lock, field in _kinds(bench):
        bench.server("SET", TOKEN, 3)
        same(lock.restore(A, attempt(1), 7), [KEPT, LEASE, 0], kind)
        lease_keys = [lease_key(A)] if kind == "read" else []
        bench.standing("x", INFO, LEASES, *lease_keys)
        same(bench.server("HGET", "x", field), "1", kind)
        same(lock.holder_shown(A)["token"], 7, kind)
        same(lock.token(), 7, kind)
        bench.ends_in(LEASE, "x", INFO, LEASES, *lease_keys)
        same(lock.take(B, attempt(2), proof=(A, 7))[:2], [REENTERED, 7], kind)
        same(lock.renew(A, attempt(1)), [KEPT, LEASE, 0], kind)
        same(lock.give(A, attempt(2), waiter=B)[0], STILL_HELD, kind)
        same(lock.give(A, attempt(1))[0], RELEASED, kind)
        bench.standing()
        same(lock.take(B, attempt(3))[1], 8, "the next one's token")


def restored_once(bench):
    """restore: of a hold that a late request has taken, with a token of this server's own, it is that of the others;
    twice is once, and neither a token nor a lease becomes less"""
    for kind, lock, field in _kinds(bench):
        bench.server("SET", TOKEN, 9)
        same(lock.take(A, attempt(1))[1], 10, kind)
        bench.server.let_pass(LEASE // 2)
        for lease in (LEASE, 1000):
            same(lock.restore(A, attempt(1), 7, lease=lease), [KEPT, lease, 0], kind)
            bench.ends_in(LEASE, "x")
        same((bench.server("HGET", "x", field), lock.token(), lock.holder_shown(A)["token"]), ("1", 10, 7), kind)


def restored_out_of_the_line(bench):
    """restore: out of the line, in which the next is the first then. Most servers have granted it, and here it waited still."""
    for kind, lock, field in _kinds(bench):
        for number, owner in ((2, B), (1, A), (3, C)):
            lock.take(owner, attempt(number))
            if owner == B and kind == "read":  # whom a reader waits for
                lock.give(B, attempt(2))
                bench.lock("write").take(B, attempt(2))
        bench.hear(lock.own_channel(C))
        bench.lock("write" if kind == "read" else kind).give(B, attempt(2))
        bench.listener.heard()
        same(lock.restore(A, attempt(1), 7), [KEPT, LEASE, 0], kind)
        bench.heard((lock.own_channel(C), f"first {LEASE}"))
        same(lock.give(A, attempt(1)), [RELEASED, 0, 0], kind)
        lock.give(C, attempt(3))
        bench.standing()


def restored_nowhere_else(bench):
    """restore: nothing is taken from anybody, Redisson's neither; what is no lock stays; a try that is over is over"""
    for kind, lock, field in _kinds(bench):
        for holder in bench.afresh("run", "write"):
            bench.lock(holder).take(B, attempt(2))
            before = bench.server.see()
            answer = lock.restore(A, attempt(1), 7)[0]
            same(answer, LOST if holder == kind or {holder, kind} == {"read", "write"} else WRONG_KIND, kind)
            same(bench.server.see().keys(), before.keys(), kind)
        bench.server("FLUSHALL")
        bench.server("HSET", "x", *(["mode", "write", R + ":write", 1] if kind != "run" else [R, 1]))
        same(lock.restore(A, attempt(1), 7), [LOST, 0, 0], kind)
        bench.server("FLUSHALL")
        lock.give(A, attempt(1), astray=True)
        same(lock.restore(A, attempt(1), 7), [OVER, 0, 0], kind)
        same(bench.server("EXISTS", "x", INFO, LEASES), 0, kind)


def restored_beside_what_is_kept(bench):
    """restore: the hold around one that was put back here, and left a --min-hold; nothing beside what others left"""
    for around, inside in (("run", "run"), ("write", "write"), ("write", "read")):
        for left_by, expected in bench.afresh((B, LOST), (A, KEPT)):
            outer, inner = bench.lock(around), bench.lock(inside)
            inner.restore(left_by, attempt(2), 7)
            same(inner.give(left_by, attempt(2), keep=LEASE)[0], RELEASED, inside)
            same(outer.restore(A, attempt(1), 7)[0], expected, f"{around} beside {inside} of {left_by}")
        same(outer.renew(A, attempt(1)), [KEPT, LEASE, 0], around)
        same(outer.give(A, attempt(1))[0], RELEASED, around)


def restored_readers(bench):
    """restore: read holds beside others, also while a writer waits, and inside the owner's write hold"""
    read, write = bench.locks("read", "write")
    read.take(B, attempt(2))
    same(write.take(C, attempt(3))[0], BUSY)
    same(read.restore(A, attempt(1), 7), [KEPT, LEASE, 0])
    same(write.restore(A, attempt(4), 7), [LOST, 0, 0], "a writer beside others")
    bench.server("FLUSHALL")
    same(read.restore(A, attempt(1), 7, inner=True), [KEPT, LEASE, 0])
    same(write.restore(A, attempt(4), 7), [KEPT, LEASE, 0])
    same(bench.server.value("x"), {"mode": "write", A: "1", A + ":write": "1"})
    same(read.restore(A, attempt(5), 7, inner=True), [KEPT, LEASE, 0])
    same(write.give(A, attempt(4))[0], RELEASED)
    same(bench.server.value("x"), {"mode": "read", A: "2"})


def reentered_or_nothing(bench):
    """asked to re-enter alone: the hold around it, or nothing, and in nobody's way"""
    for kind, lock, _ in _kinds(bench):
        same(lock.take(B, attempt(2), proof=(A, 7), wait="2"), [APART, 0, 0], kind)
        bench.standing()
        token = lock.take(A, attempt(1))[1]
        same(lock.take(B, attempt(2), proof=(A, token + 1), wait="2"), [APART, 1, 0], kind)
        same(lock.take(B, attempt(2), proof=(C, token), wait="2"), [APART, 0, 0], kind)
        same(bench.server("EXISTS", "rlock_waiters:{x}", "rlock_writers:{x}", "{x}:wait_write"), 0, kind)
        same(lock.take(B, attempt(2), proof=(A, token), wait="2"), [REENTERED, token, LEASE], kind)
        same(lock.give(A, attempt(2), waiter=B)[0], STILL_HELD, kind)
        same(lock.give(A, attempt(1))[0], RELEASED, kind)


def restored_inner_and_outer(bench):
    """restore: a hold and the one inside it, in whatever order; of the owner is shown what it says itself"""
    for kind, lock, field in _kinds(bench):
        same(lock.restore(A, attempt(2), 7, inner=True, command="inner"), [KEPT, LEASE, 0], kind)
        same(lock.restore(A, attempt(1), 7, command="outer"), [KEPT, LEASE, 0], kind)
        lock.restore(A, attempt(3), 7, inner=True, command="inner")
        same((bench.server("HGET", "x", field), lock.holder_shown(A)["command"]), ("3", "outer"), kind)
        for number, left in ((1, STILL_HELD), (2, STILL_HELD), (3, RELEASED)):
            same(lock.give(A, attempt(number))[0], left, kind)
        bench.standing()
