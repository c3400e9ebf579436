"""Keys, values and messages of run, fair, read, write, as Redisson's clients see them."""
from bench import (A, B, BEAT, C, INFO, LEASE, LEASES, PATIENCE, QUEUE, S, WAITERS, about, attempt,
                   lease_key, nth, same)
from client import BUSY, GRANTED, KEPT, LOST, OUSTED, REENTERED, RELEASED, STILL_HELD

PATIENT, NEWEST, DEAF = "patient@host", "newest@host", "deaf@host"


def exclusive_taken(bench):
    """run, write: the hash, its lease, the token, who holds; a re-entry is counted, a release takes one, the last is told"""
    for kind, mode, field, told in bench.afresh(("run", {}, A, "0"), ("write", {"mode": "write"}, A + ":write", "1")):
        lock = bench.lock(kind)
        same(lock.take(A, attempt(1)), [GRANTED, 1, LEASE])
        bench.standing("x", INFO, LEASES)
        same(bench.server.value("x"), {**mode, field: "1"})
        same(set(bench.server.value(LEASES)), {f"{field} {attempt(1)}"})
        bench.ends_in(LEASE, "x", INFO, LEASES)
        same(bench.server.value("redisson_lock_token:{x}"), "1")
        bench.for_ever("redisson_lock_token:{x}")
        shown = lock.holder_shown(A)
        about(shown.pop("since"), bench.server.now())
        same(shown, {"token": 1, "host": "host", "pid": 42, "user": "user", "command": "command", "permits": 1})
        bench.hear(lock.channel)
        same(lock.take(B, attempt(2), proof=(A, 1)), [REENTERED, 1, LEASE])
        same(bench.server.value("x"), {**mode, field: "2"})
        bench.server.let_pass(10000)
        same(lock.give(A, attempt(2), waiter=B), [STILL_HELD, 1, 0])
        same(bench.server.value("x"), {**mode, field: "1"})
        bench.ends_in(LEASE - 10000, "x", INFO, LEASES)  # of the hold that remains
        bench.heard()
        same(lock.give(A, attempt(1)), [RELEASED, 0, 0])
        bench.standing()
        bench.heard((lock.channel, told))
        same(lock.take(B, attempt(3))[1], 2, "token")


def exclusive_renewed(bench):
    """run, write: a renewal gives the whole lease, never less than there was, to the holder alone"""
    for kind, check in bench.afresh(("run", "mutex_check"), ("write", "rw_check")):
        lock = bench.held(kind)
        bench.server.let_pass(10000)
        same(lock.renew(A, attempt(1)), [KEPT, LEASE, 0])
        bench.ends_in(LEASE, "x", INFO, LEASES)
        same(lock.renew(A, attempt(1), lease=5000), [KEPT, 5000, 0])
        bench.ends_in(LEASE, "x")  # never shortened
        bench.server.let_pass(6000)
        same(lock.run(check, A, 0, attempt(1), 1)[0], KEPT)
        same(lock.renew(B, attempt(1)), [LOST, 0, 0])
        same(lock.renew(A, attempt(2)), [LOST, 0, 0])


def fair_queue(bench):
    """fair: the queue, the scores, and a message for the head alone"""
    lock = bench.held("fair")
    for place, owner in ((1, B), (2, C)):
        answer = lock.take(owner, attempt(place + 1))
        same(answer[:1] + answer[2:4] + answer[9:12], [BUSY, place, A, place, 0, BEAT])
        about(answer[1], LEASE)
    bench.stand({B: LEASE + PATIENCE, C: LEASE + 2 * PATIENCE})
    bench.hear(lock.channel, lock.own_channel(B), lock.own_channel(C))
    lock.give(A, attempt(1))
    bench.heard((lock.own_channel(B), "0"))  # the head alone
    same(lock.take(C, attempt(3))[0:4:3], [BUSY, B], "the second while the head has not come")
    bench.heard((lock.own_channel(B), "0"))
    same(lock.take(B, attempt(2))[0], GRANTED)
    bench.stand({C: LEASE + PATIENCE})  # a place nearer
    lock.give(C, attempt(3))
    lock.give(B, attempt(2))
    bench.standing()


def fair_goes_first(bench):
    """fair: whose turn has come in the line of another name takes a free one before others, or stands behind them"""
    lock = bench.held("fair")
    lock.take(B, attempt(2))
    same(lock.take(C, attempt(3), wait=3)[:3:2], [BUSY, 2])
    lock.give(A, attempt(1))
    same(lock.take(C, attempt(3))[0:4:3], [BUSY, B])
    same(lock.take(C, attempt(3), wait=3)[0], GRANTED)
    same(lock.take(B, attempt(2))[0:4:3], [BUSY, C])
    lock.give(C, attempt(3))
    same(lock.take(B, attempt(2))[0], GRANTED)
    lock.give(B, attempt(2))
    bench.standing()


def fair_newest_first(bench):
    """fair --supersede: who comes later takes the place of those that came with it before, and they know"""
    fair = bench.lock("fair")
    fair.take(S, attempt(1))
    fair.take(A, attempt(2), variant="supersede")
    fair.take(PATIENT, attempt(3))
    bench.hear(fair.own_channel(A))
    same(fair.take(B, attempt(4), variant="supersede")[2], 2)
    same(bench.server.value(QUEUE), [PATIENT, B])
    bench.heard((fair.own_channel(A), "0"))
    for _ in range(2):  # as after a lost answer
        same(fair.take(A, attempt(2), variant="supersede", place="1")[0], OUSTED)
    fair.give(A, attempt(2))
    bench.server("LREM", QUEUE, 0, B)  # lost, by whatever
    ticket = fair.take(C, attempt(5), variant="supersede")[12]
    same(fair.take(B, attempt(4), variant="supersede", place="2")[0], OUSTED)
    fair.give(B, attempt(4))
    for _ in range(3):  # C does not beat
        bench.server.let_pass(2500)
        same(fair.take(PATIENT, attempt(3), place="1")[0], BUSY, "who came without it stays")
    fair.take(NEWEST, attempt(6), variant="supersede")
    same(bench.server.value(QUEUE), [PATIENT, NEWEST])
    same(fair.take(C, attempt(5), variant="supersede", place="2", ticket=ticket)[0], OUSTED, "who comes back")
    newest = fair.take(NEWEST, attempt(6), variant="supersede", place="1")[12]
    same(fair.take(C, attempt(5), variant="supersede", place="2", ticket=newest)[0], OUSTED, "who came in the same ms")
    for number in range(7, 40):  # killed, one after the other
        fair.take(f"{number:08x}-2222-4333-8444-555555555555:1@host", attempt(number), variant="supersede")
    same(len(bench.server.value("rlock_queuers:{x}")), 6, "two wait, and what is known of the newest")


def fair_newest_of_several_names(bench):
    """fair --supersede: who comes late, having waited for other names, is as old as it is"""
    fair = bench.lock("fair")

    def come(owner, number, waited):
        return fair.take(owner, attempt(number), variant="supersede", waited=waited)

    fair.take(S, attempt(1))
    same(come(A, 2, 5000)[0], BUSY)
    same(come(B, 3, 2000)[0], BUSY, "later than A")
    same(come(C, 4, 3000)[::3], [OUSTED, "superseded by user@host pid 42"])
    fair.give(C, attempt(4))
    same(come(A, 2, 6000)[0], OUSTED, "whose place was taken")
    same(bench.server.value(QUEUE), [B])
    bench.server("HSET", "rlock_queuers:{x}", "", f"{bench.server.now() + 60000} 0 {B} B")  # the clock was set back
    same(come(C, 5, 3000)[0], BUSY)
    same(bench.server.value(QUEUE), [C])


def fair_newest_is_remembered(bench):
    """fair --supersede: until all whose place was taken know; nobody is taken for newer than itself"""
    fair = bench.lock("fair")
    fair.take(S, attempt(1))
    tickets = {who: fair.take(who, attempt(number), variant="supersede")[12] for number, who in enumerate((A, B, C), 2)}
    fair.give(C, attempt(4))  # the newest was here
    fair.give(B, attempt(3))
    same(fair.take(A, attempt(2), variant="supersede", place="1", ticket=tickets[A])[0], OUSTED, "out of contact")
    same(bench.server.value("rlock_queuers:{x}").keys(), {"", ">1"})
    bench.ends_in(1200000, "rlock_queuers:{x}")
    same(fair.take(C, attempt(5), variant="supersede", waited=5000)[0], BUSY, "having waited elsewhere")
    fair.give(C, attempt(5))
    same(fair.take(C, attempt(6), variant="supersede", waited=6000)[0], BUSY, "again, while A is not gone")
    fair.give(C, attempt(6))
    fair.give(A, attempt(2))
    bench.standing("x", INFO, LEASES)


def kept_for_less_than_said(bench):
    """--min-hold: all who wait are told that it is given back sooner than they knew, Redisson's too"""
    for kind, lock in bench.each("run", "fair", "read", "write", "sem"):
        lock.take(A, attempt(1), permits=lock.total or 1)
        bench.hear(lock.channel)
        lock.give(A, attempt(1), permits=lock.total or 1, keep=2000)
        bench.heard((lock.channel, "1" if kind == "write" else "0"))


def readers(bench):
    """read: mode, counts, one lease key for each owner, with its holds, 0 after the last"""
    lock = bench.lock("read")
    bench.hear(lock.channel)
    same(lock.take(A, attempt(1)), [GRANTED, 1, LEASE])
    bench.standing("x", INFO, LEASES, lease_key(A))
    same(bench.server.value("x"), {"mode": "read", A: "1"})
    same(bench.server.value(lease_key(A)), attempt(1))
    bench.ends_in(LEASE, "x", lease_key(A), INFO, LEASES)
    same(lock.take(B, attempt(2), lease=60000), [GRANTED, 2, 60000])
    same(lock.take(C, attempt(3), lease=50000, proof=(A, 1)), [REENTERED, 1, 50000])
    same(bench.server.value("x"), {"mode": "read", A: "2", B: "1"})
    bench.standing("x", INFO, LEASES, lease_key(A), lease_key(B))
    same({*bench.server.value(lease_key(A)).split(" ")}, {attempt(1), attempt(3)})
    bench.ends_in(50000, lease_key(A))  # the longer
    bench.ends_in(60000, lease_key(B), "x")
    same(lock.give(B, attempt(2)), [RELEASED, 0, 0])
    same(bench.server.value("x"), {"mode": "read", A: "2"})
    bench.ends_in(50000, "x")  # the longest that is left
    same(lock.give(A, attempt(1)), [STILL_HELD, 1, 0])
    bench.standing("x", INFO, LEASES, lease_key(A))
    same(bench.server.value(lease_key(A)), attempt(3))
    bench.ends_in(50000, lease_key(A))
    bench.heard()
    same(lock.give(A, attempt(3), waiter=C), [RELEASED, 0, 0])
    bench.standing()
    bench.heard((lock.channel, "0"))


def reader_renewed(bench):
    """read: a renewal is for one hold"""
    lock = bench.held("read")
    lock.take(B, attempt(2))
    bench.server.let_pass(10000)
    other = bench.server("ZSCORE", LEASES, f"{B} {attempt(2)}")
    same(lock.renew(A, attempt(1)), [KEPT, LEASE, 0])
    bench.ends_in(LEASE, "x", lease_key(A))
    bench.ends_in(LEASE - 10000, lease_key(B))
    same(bench.server("ZSCORE", LEASES, f"{B} {attempt(2)}"), other)
    same(lock.renew(A, attempt(2)), [LOST, 0, 0])


def downgrade(bench):
    """read inside write: the read hold remains, and readers that wait are told and let in; also where the write hold
    expires"""
    read, write = bench.locks("read", "write")
    token = write.take(A, attempt(1))[1]
    same(read.take(B, attempt(2), lease=5000, proof=(A, token)), [REENTERED, token, 5000])
    same(bench.server.value("x"), {"mode": "write", A + ":write": "1", A: "1"})
    bench.ends_in(LEASE, "x")  # not shortened
    same(read.take(C, attempt(3))[0], BUSY)
    bench.hear(read.channel, read.own_channel(C))
    same(write.give(A, attempt(1)), [RELEASED, 0, 0])
    bench.heard((read.channel, "1"), (read.own_channel(C), "0"))
    same(bench.server.value("x"), {"mode": "read", A: "1"})
    same(read.take(C, attempt(3))[0], GRANTED)
    same(write.take("w", attempt(4), wait=False)[0], BUSY)
    bench.server("FLUSHALL")
    token = write.take(A, attempt(1), lease=5000)[1]
    read.take(A, attempt(2), proof=(A, token))
    bench.server.let_pass(5000)
    same(read.take(B, attempt(3))[0], GRANTED)
    same(bench.server.value("x"), {"mode": "read", A: "1", B: "1"})


def waiting_writer(bench):
    """write: who waits is marked, and holds back new readers while alive"""
    read, write = bench.locks("read", "write")
    token = read.take(A, attempt(1))[1]
    write.take(B, attempt(2), wait=False)
    same(read.take(C, attempt(3))[0], GRANTED, "before one waits")
    same(write.take(B, attempt(2))[0:4:2], [BUSY, 1])
    same(write.take("w", attempt(9))[0:4:2], [BUSY, 2])
    same(bench.server.value("{x}:wait_write"), B)
    bench.ends_in(6000, "{x}:wait_write")
    same(read.take("r", attempt(4), wait=False)[0], BUSY)
    same(read.take("r", attempt(5), proof=(A, token))[0], REENTERED)
    bench.server.let_pass(6000)  # it was dead
    same(read.take("r", attempt(6))[0], GRANTED)


def left_held_by_a_reader(bench):
    """read --min-hold: left held for its time, by nobody, inside a hold of the same owner as well"""
    read, write = bench.locks("read", "write")
    token = read.take(A, attempt(1), lease=60000)[1]
    read.take(B, attempt(2), proof=(A, token))
    same(read.give(A, attempt(2), keep=5000, waiter=B)[0], STILL_HELD)
    same(read.take(C, attempt(3), proof=(A, token))[0], REENTERED)
    read.give(A, attempt(3), waiter=C)
    same(read.give(A, attempt(1))[0], RELEASED)
    same(read.give(A, attempt(1)), [LOST, 0, 0], "repeated")
    same(read.renew(A, attempt(1)), [LOST, 0, 0], "a late renewal")
    same(bench.server.value("x"), {"mode": "read", A + "#kept": "1"})
    bench.ends_in(5000, "x", lease_key(A + "#kept"))
    same(write.take(C, attempt(4), proof=(A, token), wait=False)[0], BUSY, "the proof of nobody")
    bench.server.let_pass(5000)
    bench.standing()


def left_held_by_a_writer(bench):
    """write --min-hold: readers stay out for its time, a read hold inside goes on"""
    read, write = bench.locks("read", "write")
    token = write.take(A, attempt(1))[1]
    read.take(B, attempt(2), proof=(A, token))
    same(write.give(A, attempt(1), keep=5000)[0], RELEASED)
    same(write.renew(A, attempt(1)), [LOST, 0, 0], "a late renewal")
    same(read.take(C, attempt(3), wait=False)[0], BUSY)
    bench.ends_in(LEASE, "x", lease_key(A))
    bench.server.let_pass(5000)
    same(write.take(C, attempt(4), wait=False)[0], BUSY)
    same(read.take(C, attempt(5))[0], GRANTED)
    same(read.renew(A, attempt(2))[0], KEPT)


def many_left_held(bench):
    """--min-hold, twenty times inside one hold: nobody's until the longest ends; the hold around them goes on"""
    for kind, lock in bench.each("run", "fair", "write", "read"):
        token = lock.take(A, attempt(1))[1]
        for number in range(2, 22):
            same(lock.take(nth(number), attempt(number), proof=(A, token))[0], REENTERED, f"{kind} {number}")
            same(lock.give(A, attempt(number), keep=120000 - number * 1000, waiter=nth(number))[0], STILL_HELD)
        same(lock.give(A, attempt(1))[0], RELEASED)
        kept = A + "#kept" + (":write" if kind == "write" else "")
        same(bench.server.value("x"), {kept: "1", **({"mode": kind} if kind in ("read", "write") else {})})
        bench.ends_in(118000, "x")


def names_with_a_brace(bench):
    """names with a brace get none. NAME has a hash tag already: no braces are added, but in a latch's channel."""
    read, run = bench.lock("read", "a{b}"), bench.lock("fair", "m{b}")
    read.take(A, attempt(1))
    run.take(A, attempt(1))
    run.take(B, attempt(2))
    bench.standing("a{b}", f"a{{b}}:{A}:rwlock_timeout:1", "rlock_info:a{b}", "rlock_leases:a{b}",
                   "m{b}", "rlock_info:m{b}", "rlock_leases:m{b}", "redisson_lock_queue:m{b}",
                   "redisson_lock_timeout:m{b}", "rlock_queue:m{b}", "rlock_queue_beats:m{b}", "rlock_queuers:m{b}")
    bench.hear("redisson_rwlock:a{b}", "redisson_lock__channel:m{b}:" + B, "redisson_countdownlatch__channel__{l{b}}")
    read.give(A, attempt(1))
    run.give(A, attempt(1))
    bench.lock("latch", "l{b}").run("latch_set", A, LEASE, attempt(1), 1)
    bench.heard(("redisson_rwlock:a{b}", "0"), ("redisson_lock__channel:m{b}:" + B, "0"),
                ("redisson_countdownlatch__channel__{l{b}}", "1"))


def line_of_waiters(bench):
    """run: waiters in line are woken one at a time

    Each release wakes the first that listens, which keeps its place; the next one, too, where the first was
    woken before and has not come."""
    lock = bench.held("run")
    for number, owner in enumerate((DEAF, B, C), 2):
        lock.take(owner, attempt(number))
    bench.hear(lock.own_channel(B), lock.own_channel(C))
    bench.ends_in(15000, WAITERS)
    lock.give(A, attempt(1))
    bench.heard((lock.own_channel(B), "0"))
    same(list(bench.server.value(WAITERS)), [DEAF, B, C])
    same(lock.take(A, attempt(5))[0], GRANTED, "it may barge")
    bench.heard((lock.own_channel(B), f"first {LEASE}"))
    lock.give(A, attempt(5))
    bench.heard((lock.own_channel(B), "0"), (lock.own_channel(C), "0"))
    lock.take(A, attempt(6))
    bench.heard((lock.own_channel(B), f"first {LEASE}"))
    for number, owner in ((3, B), (4, C)):
        same(lock.take(owner, attempt(number))[2], number - 1)
    lock.give(A, attempt(6))
    bench.heard((lock.own_channel(B), "0"))
    lock.take(A, attempt(7))
    for _ in range(2):
        bench.server.let_pass(2400)
        lock.take(C, attempt(4))
    same(list(bench.server.value(WAITERS)), [C], "who is dead, or does not come, is out")


def preempt_asks(bench):
    """--preempt: a holder that has agreed is asked to end, with each try, and others are not"""
    def asked(who, number, **options):
        """Whether it has asked, and when it is to come again."""
        answer = lock.take(who, attempt(number), **options)
        return (answer[0], *answer[14:], answer[11])

    has_asked, not_agreed, soon = 1, 2, 500
    for kind, lock in bench.each("run", "fair"):
        same(lock.take(A, attempt(1), preemptible=True)[0], GRANTED)
        same(asked(B, 2), (BUSY, BEAT), "without the option")
        same(asked(B, 2, preempts_as="bob"), (BUSY, has_asked, soon), "it does not listen yet")
        bench.hear(f"rlock_break:{A}")
        for _ in range(2):
            same(asked(B, 2, preempts_as="bob")[:2], (BUSY, has_asked))
            bench.heard((f"rlock_break:{A}", "preempt bob"))
        for wait in (True, False):
            same(asked(C, 5, preempts_as="carol", wait=wait)[:-1], (BUSY,), "only the first in line")
        lock.give(C, attempt(5))
        bench.heard()
        bench.listener.deafen(f"rlock_break:{A}")
        lock.give(B, attempt(2))
        lock.give(A, attempt(1))
        lock.take(A, attempt(3))
        bench.hear(f"rlock_break:{A}")
        same(asked(B, 4, preempts_as="bob"), (BUSY, not_agreed, BEAT))
        bench.heard()
        bench.listener.deafen(f"rlock_break:{A}")
        lock.give(A, attempt(3), keep=60000)
        same(asked(B, 4, preempts_as="bob"), (BUSY, not_agreed, BEAT), "what --min-hold keeps is nobody's")
        bench.heard()
        lock.give(B, attempt(4))
        bench.server("FLUSHALL")
