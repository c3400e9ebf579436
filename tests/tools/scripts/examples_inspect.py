"""What inspecting a name shows, and that it changes nothing."""
import os

from bench import (A, B, C, D, E, HOLD, INFO, LEASE, LEASES, PERMITS, QUEUE, R, S, TIMEOUTS, WAITERS, about, attempt,
                   lease_key, permit, same)
from client import WRONG_KIND, common

SEEN = 1
KEYS = common("rlock_hold:{*}") + ["redisson_lock_queue:{*}", "redisson_lock_timeout:{*}", "rlock_queue:{*}",
                 "rlock_queue_beats:{*}", "{*}:wait_write", "rlock_writers:{*}", "rlock_writer_beats:{*}", "{*}:timeout",
                 "rlock_leases:{*}", "rlock_last:{*}"]
HOLDER = ("owner", "host", "pid", "user", "command", "since", "ttl", "holds", "token", "permits", "writes",
          "kept", "note", "preemptible", "id")
PORTION = 100
PERMITS_OF = "5 0"  # where the permits of a semaphore begin


class _View:
    """The answers by their fields, put together as lib/admin/view.c does it."""

    def __init__(self, bench, name="x", portion=PORTION, between=None):
        with open(os.environ["SCRIPTS"] + "/inspect.lua", encoding="latin-1") as file:
            self.script = file.read()
        self.bench, self.portion, self.between, self.pages = bench, portion, between, 0
        self.keys = [key.replace("*", name) for key in KEYS]
        before = bench.server.see()
        answer = self.ask("")
        self.code = answer[0]
        if self.code == SEEN:
            self.rows, self.parts, self.waits = {}, {}, {}
            self.read(answer)
        if not between:
            same({key: value for key, (value, _) in bench.server.see().items()},
                 {key: value for key, (value, _) in before.items() if bench.server("EXISTS", key)}, "keys")

    def ask(self, where):
        self.pages += 1
        return self.bench.server("EVAL", self.script, len(self.keys), *self.keys, "", 0, "", 0, "PUBLISH ", 0, where,
                                 self.portion)

    def read(self, answer):
        (_, self.now, self.held, self.kind, self.token, self.total, self.available, self.count, _, _, self.bare,
         self.last_run, leased, _, _) = answer
        self.add(answer)
        if leased not in (-1, sum(holder["permits"] for holder in self.rows.values() if holder["ttl"] >= 0)):
            self.add(self.ask(PERMITS_OF))
        self.holders = self.merge_permits() if leased >= 0 else self.merge_holds()
        if self.holders and self.kind in ("read", "write"):
            self.kind = "write" if any(holder["writes"] for holder in self.holders) else "read"
        self.held = 1 if self.holders else self.held
        self.waiters = list(self.waits)
        self.since = [waiter[1] for waiter in self.waits.values()]
        self.told = [waiter[2:5] for waiter in self.waits.values()]
        self.priorities = [waiter[6] for waiter in self.waits.values()]
        self.owners = [holder["owner"] for holder in self.holders]
        about(self.now, self.bench.server.now())

    def add(self, answer):
        """All that a page says, and all pages behind it."""
        while True:
            for row in answer[8]:
                holder = dict(zip(HOLDER, row))
                self.rows[holder["owner"], holder["id"]] = holder
            for row in answer[9]:
                self.waits.setdefault(row[0], row)
            for owner, id, ttl, writes in answer[13]:
                self.parts[owner, id] = dict(id=id, holds=int(ttl > 0), ttl=ttl, writes=writes)
            if not answer[14]:
                return
            if self.between:
                self.between()
            answer = self.ask(answer[14])

    def merge_holds(self):
        merged = []
        for owner in dict.fromkeys(owner for owner, _ in self.rows):
            rows = [row for (whose, _), row in self.rows.items() if whose == owner]
            parts = [part for (whose, _), part in self.parts.items() if whose == owner] or rows
            lives = [part for part in parts if part["holds"]]
            if lives:
                merged.append(dict(rows[0], holds=sum(part["holds"] for part in lives),
                                   ttl=max(part["ttl"] for part in lives),
                                   writes=max(part["writes"] for part in lives)))
        return merged

    def merge_permits(self):
        for _, each in self.parts:
            mine = [row for row in self.rows.values() if row["id"][:24] == each[:24] and row["holds"]]
            if mine:
                mine[0].update(permits=1 + mine[0].get("counted", 0), counted=1 + mine[0].get("counted", 0))
                mine[0]["ttl"] = max(mine[0]["ttl"], self.parts[each, each]["ttl"])
            else:
                self.rows[each, each] = dict(zip(HOLDER, (each, "", -1, "", "", -1, self.parts[each, each]["ttl"], 0,
                                                          "", 1, 0, 0, "", 0, each)))
        return [row for row in self.rows.values() if row["permits"]]


def _seen(bench, held, kind, holders, waiters=()):
    view = _View(bench)
    same((view.held, view.kind, sorted(view.owners), view.waiters),
         (held, kind, sorted(holders), list(waiters)), "view")
    return view


def _shown(holder, ttl, **expected):
    about(holder["ttl"], ttl, "ttl")
    same({name: holder[name] for name in expected}, expected)


def seen_of_nothing(bench):
    """inspect: a free name is free"""
    view = _seen(bench, 0, "", [])
    same((view.token, view.total, view.available, view.count), ("", -1, "", -1))


def seen_of_a_mutex(bench):
    """inspect: run and fair: holds, lease, token, who, and all who wait"""
    run, fair = bench.locks("run", "fair")
    run.take(A, attempt(1))
    run.take(B, attempt(2), proof=(A, "1"))
    view = _seen(bench, 1, "run", [A])
    _shown(view.holders[0], LEASE, holds=2, token="1", host="host", pid=42, user="user", command="command",
           permits=-1, writes=0, kept=0, note="")
    about(view.holders[0]["since"], view.now, "since")
    same(view.token, "1")
    run.take(B, attempt(3))
    fair.take(C, attempt(4))
    view = _seen(bench, 1, "fair", [A], [C, B])
    for since in view.since:
        about(since, view.now, "since")
    same(view.told, [["user", "command", ""], ["user", "command", ""]])
    same(view.priorities, [0, 0])
    fair.take(D, attempt(5), priority=1000)
    fair.take(E, attempt(6), priority=-1000)
    view = _seen(bench, 1, "fair", [A], [D, C, E, B])
    same(view.priorities, [1000, 0, -1000, 0])
    for since in view.since:
        about(since, view.now, "since")
    bench.server.let_pass(LEASE)
    _seen(bench, 0, "", [])


def seen_of_a_large_token(bench):
    """inspect: a token beyond 2^53 is exact"""
    run = bench.lock("run")
    bench.server("SET", run.keys[1], 2**62)
    run.take(A, attempt(1))
    view = _seen(bench, 1, "run", [A])
    same((view.token, view.holders[0]["token"]), (str(2**62 + 1), str(2**62 + 1)))


def seen_of_redissons_mutex(bench):
    """inspect: Redisson's mutex and its queue"""
    bench.server("HSET", "x", R, 2)
    _shown(_seen(bench, 1, "run", [R]).holders[0], -1, holds=2, host="", pid=-1, since=-1, token="")
    bench.server("PEXPIRE", "x", LEASE)
    _shown(_seen(bench, 1, "run", [R]).holders[0], LEASE)
    bench.server("RPUSH", QUEUE, S, B)
    bench.server("ZADD", TIMEOUTS, bench.server.now() + 1000, S, bench.server.now() - 1, B)
    _seen(bench, 1, "fair", [R], [S])  # the other's time is over


def seen_of_dead_waiters(bench):
    """inspect: a waiter that beats no more is none"""
    run, fair = bench.locks("run", "fair")
    run.take(A, attempt(1))
    fair.take(B, attempt(2))
    fair.take(C, attempt(3))
    for _ in range(2):
        bench.server.let_pass(2400)
        _seen(bench, 1, "fair", [A], [B, C])
        fair.take(C, attempt(3), place=2)
    bench.server.let_pass(2400)
    _seen(bench, 1, "fair", [A], [C])


def seen_of_readers(bench):
    """inspect: read: each reader's own lease, the dead left out, writers first in line"""
    read, write = bench.locks("read", "write")
    read.take(A, attempt(1), lease=10000)
    read.take(A, attempt(2), lease=20000, proof=(A, "1"))
    read.take(B, attempt(3), lease=5000)
    bench.server("HINCRBY", "x", R, 1)
    bench.server("SET", lease_key(R), 1, "PX", LEASE)
    view = _seen(bench, 1, "read", [A, B, R])
    by_owner = {holder["owner"]: holder for holder in view.holders}
    _shown(by_owner[A], 20000, holds=2, token="1", writes=0)
    _shown(by_owner[B], 5000, holds=1, token="2")
    _shown(by_owner[R], LEASE, holds=1, token="", host="")
    write.take(C, attempt(4))
    read.take(S, attempt(5))
    _seen(bench, 1, "read", [A, B, R], [C, S])
    bench.server("ZADD", LEASES, 1, f"{B} {attempt(3)}", 1, f"{A} {attempt(1)}")  # their leases are over
    view = _seen(bench, 1, "read", [A, R], [C, S])
    _shown({holder["owner"]: holder for holder in view.holders}[A], 20000, holds=1)
    bench.server("DEL", lease_key(R))
    bench.server("ZADD", LEASES, 1, f"{A} {attempt(2)}")
    _seen(bench, 0, "read", [], [C, S])


def seen_of_a_writer(bench):
    """inspect: write: a writer that reads too is one holder; a downgrade reads"""
    read, write = bench.locks("read", "write")
    write.take(A, attempt(1))
    _shown(_seen(bench, 1, "write", [A]).holders[0], LEASE, holds=1, token="1", writes=1)
    read.take(A, attempt(2), lease=40000, proof=(A, "1"))
    _shown(_seen(bench, 1, "write", [A]).holders[0], 40000, holds=2, token="1", writes=1)
    bench.server.let_pass(LEASE)
    _shown(_seen(bench, 1, "read", [A]).holders[0], 10000, holds=1, writes=0)
    bench.server("DEL", "x", INFO, LEASES)
    bench.server("HSET", "x", "mode", "write", R + ":write", 3)
    bench.server("PEXPIRE", "x", LEASE)
    _shown(_seen(bench, 1, "write", [R]).holders[0], LEASE, holds=3, writes=1)


def seen_of_a_semaphore(bench):
    """inspect: sem: permits by holder, those that have expired are available"""
    sem = bench.lock("sem")
    sem.take(A, attempt(1), permits=2, total=5)
    sem.take(B, attempt(2), lease=5000)
    bench.server("ZADD", PERMITS, bench.server.now() + 9000, permit(9))
    bench.server("DECR", "x")
    sem.take(C, attempt(3), permits=2)
    view = _seen(bench, 1, "sem", [A, B, attempt(9)], [C])
    same((view.total, view.available, view.count), (5, 1, -1))
    by_owner = {holder["owner"]: holder for holder in view.holders}
    _shown(by_owner[A], LEASE, permits=2, token="1", command="command")
    _shown(by_owner[B], 5000, permits=1, token="2")
    _shown(by_owner[attempt(9)], 9000, permits=1, token="", host="")
    bench.server("DEL", WAITERS)
    bench.server("ZADD", PERMITS, bench.server.now() - 1, permit(2))
    view = _seen(bench, 1, "sem", [A, attempt(9)])
    same((view.total, view.available), (5, 2))
    bench.server("DEL", "x")
    view = _seen(bench, 1, "sem", [A, attempt(9)])
    same((view.total, view.available), (-1, ""))
    bench.server.let_pass(LEASE)
    bench.server("SET", "x", 1)
    view = _seen(bench, 0, "sem", [])
    same((view.total, view.available), (5, 5))


def seen_of_plain_permits(bench):
    """inspect: sem --plain: permits by holder; Redisson's are only counted"""
    plain = bench.lock("plain")
    plain.take(A, attempt(1), permits=2, total=3)
    view = _seen(bench, 1, "sem", [A])
    same((view.total, view.available), (3, 1))
    _shown(view.holders[0], -1, permits=2, token="1")
    plain.give(A, attempt(1), permits=2)
    view = _seen(bench, 0, "sem", [])
    same((view.total, view.available), (3, 3))
    bench.server("FLUSHALL")
    bench.server("SET", "x", 0)  # Redisson's, all taken
    view = _seen(bench, 1, "sem", [])
    same((view.total, view.available), (-1, 0))


def seen_of_a_latch(bench):
    """inspect: latch: its count"""
    bench.lock("latch").run("latch_set", "", 0, attempt(1), 3)
    same(_seen(bench, 1, "latch", []).count, 3)
    bench.server("DEL", HOLD)
    same(_seen(bench, 1, "latch", []).count, 3)


def seen_of_what_is_no_lock(bench):
    """inspect: a key that is no lock is of the wrong kind"""
    for command in (("SET", "x", "text"), ("SADD", "x", 1), ("HSET", "x", "a", 1, "b", 2),
                    ("HSET", "x", "a", "text"), ("HSET", "x", "mode", "dark"), ("RPUSH", "x", 1)):
        bench.server("FLUSHALL")
        bench.server(*command)
        same(_View(bench).code, WRONG_KIND, command)


def seen_of_odd_descriptions(bench):
    """inspect: whatever stands where a holder is described does no harm"""
    run = bench.lock("run")
    run.take(A, attempt(1))
    for text in ("no json", "[1]", "7", '{"pid": 1e300, "host": {}, "since": null}', '{"pid": -1, "user": 3}'):
        bench.server("HSET", INFO, A, text)
        _shown(_seen(bench, 1, "run", [A]).holders[0], LEASE, host="", pid=-1, user="", since=-1, token="")


def seen_of_the_last_run(bench):
    """inspect: the last run with --once-per, whatever is noted of it"""
    run = bench.lock("run")
    same(_seen(bench, 0, "", []).last_run, [])
    for number, status in ((1, 0), (2, 3)):
        run.take(A, attempt(number), period=1000)
        run.give(A, attempt(number), ended=(1000, status, 1500))
        bench.server.let_pass(1000)
    run.take(A, attempt(3))
    view = _seen(bench, 1, "run", [A])
    same(view.last_run[:6], ["host", 42, "user", "command", 3, 1500])
    about(view.last_run[6], view.now)  # the time in a text does not pass with let_pass()
    about(view.last_run[7], view.now - 2000)
    bench.server("HSET", "rlock_last:{x}", "last", "nonsense")
    same(_seen(bench, 1, "run", [A]).last_run[:6], ["", -1, "", "", -1, -1])
    bench.server("SET", "rlock_last:{x}", "nonsense")
    same(_seen(bench, 1, "run", [A]).last_run, [])


def seen_of_a_crowd_in_pages(bench):
    """inspect: a crowd comes in pages, each once, also while some leave

    More than fits on a page: each is seen, and none twice, while some leave between the pages."""
    now = bench.server.now()
    owners = [f"{i:08x}-2222-4333-8444-555555555555:{i}@host" for i in range(1, 301)]
    bench.server("HSET", "x", "mode", "read", *(word for owner in owners for word in (owner, 1)))
    bench.server("HSET", INFO, *(word for owner in owners for word in (owner, '{"token":5,"pid":7}')))
    bench.server("ZADD", LEASES, *(word for i, owner in enumerate(owners) for word in (now + LEASE, f"{owner} {attempt(i)}")))
    bench.server("ZADD", WAITERS, *(word for i, owner in enumerate(owners) for word in (now * 1000 + i, "w" + owner)))
    view = _View(bench)
    same((sorted(view.owners), view.waiters), (owners, ["w" + owner for owner in owners]))
    same({holder["holds"] for holder in view.holders}, {1})
    _shown(view.holders[0], LEASE, pid=7, token="5")
    same(view.pages > 5, True)
    gone = iter(owners[:40])

    def leave():
        owner = next(gone, None)
        if owner:
            bench.server("ZREM", WAITERS, "w" + owner)
            bench.server("HDEL", "x", owner)
    view = _View(bench, portion=10, between=leave)
    same(len(set(view.owners)), len(view.owners))
    same([owner for owner in owners[40:] if owner not in view.owners or "w" + owner not in view.waiters], [])


def seen_of_many_permits(bench):
    """inspect: 3,000 permits of one hold are not looked at one by one

    A hold's number of permits is known without a look at each, but not Redisson's."""
    sem = bench.lock("sem")
    sem.take(A, attempt(1), permits=3000, total=5000)
    view = _seen(bench, 1, "sem", [A])
    same((view.pages, view.holders[0]["permits"], view.available, view.total), (1, 3000, 2000, 5000))
    bench.server("ZADD", PERMITS, bench.server.now() + 9000, permit(9))
    view = _seen(bench, 1, "sem", [A, attempt(9)])
    same(({holder["owner"]: holder["permits"] for holder in view.holders}), {A: 3000, attempt(9): 1})


def seen_of_long_texts(bench):
    """inspect: of long texts the front is read, whatever character it ends in

    Of a long text the front; of a description that is longer than any nothing."""
    run = bench.lock("run")
    run.take(A, attempt(1))
    for length, command in ((5000, "c" * 4096), (60000, "c" * 4096), (2 ** 20, "")):
        bench.server("HSET", INFO, A, '{"token":3,"host":"h","pid":4,"user":"u","command":"%s","permits":1,"since":77}'
                     % ("c" * length))
        _shown(_seen(bench, 1, "run", [A]).holders[0], LEASE, command=command, since=77 if command else -1,
               pid=4 if command else -1, token="3" if command else "")
    for end in ("\\u00e9", "\\\\", '\\"', "\u00e9"):
        for number in range(6):
            bench.server("HSET", INFO, A, '{"command":"%s%s","since":77}' % (
                "c" * (16384 - 12 - number), end.encode("utf-8").decode("latin-1") * 9000))
            _shown(_seen(bench, 1, "run", [A]).holders[0], LEASE, command="c" * 4096, since=77)
    bench.server("HSET", INFO, A, '{"command":"%s"}' % ("\u00e9".encode("utf-8").decode("latin-1") * 3000))
    command = _seen(bench, 1, "run", [A]).holders[0]["command"]
    same(command.encode("latin-1").decode("utf-8"), "\u00e9" * (len(command) // 2))
