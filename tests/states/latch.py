"""Latches, in all states: some set one, others count it down, and others wait for it.

A change is remembered for 20 minutes (lua/include/try.lua), or until its answer has come, if nothing of it may come
any more. A request without an answer is sent again (lib/redis/script_retry.c); what was on the connection that broke
may arrive later.
"""
from typing import NamedTuple

from client import BUSY, GRANTED, LOST, RELEASED
from promises import must
from roles import Request, Role
from search import Search
from stage import Purse, Stage

BEFORE_FORGOTTEN, SOON = 1200000, 5000  # ms


class Party(NamedTuple):
    asks: bool = False  # no answer has come yet
    done: bool = False  # it has had its answer
    counted: bool = False  # it was carried out, be there a latch or not
    strays: int = 0
    hears: int = 0
    due: bool = True  # it looks now


class State(NamedTuple):
    redis: tuple
    locals: tuple
    purse: Purse
    age: int = 0  # ms that have passed


class Latch(Stage):
    """kinds: set, down or wait, each a client's part."""

    def __init__(self, server, folder, kinds, faults, times, broken=None):
        super().__init__(server, folder, [Role("latch", permits=2 if kind == "set" else 1) for kind in kinds], broken)
        self.kinds = kinds
        self.classes = [[i for i, kind in enumerate(kinds) if kind == each] for each in sorted(set(kinds))]
        self.first = self.ordered(self.empty, [Party()] * len(kinds), Purse(faults, times), 0)

    def ordered(self, redis, parties, purse, age):
        return State(*self.in_order(map(self.locals.number, parties), redis), purse, age)

    def count(self, redis):
        """What is left to be counted; 0: it is open, or not there."""
        return next((int(item[5]) for number in redis for item in self.parts.values[number]
                     if item[0] == "x" and item[1]), 0)

    def actions(self, state):
        for i, each in enumerate(self.known(state)):
            if each.strays:
                yield ("arrives", i)
            if self.kinds[i] == "wait":
                if not each.done and each.due:
                    yield ("looks", i)
            elif not each.done:
                yield ("sends", i)
                if state.purse.faults:
                    yield ("reply lost", i)
                    yield ("request late", i)
        if state.purse.times and state.age + SOON < BEFORE_FORGOTTEN:
            yield ("later", SOON)

    def follow(self, state, action):
        name, i = action
        redis, known, purse, age = state.redis, self.known(state), state.purse, state.age
        if name == "later":
            known = [each._replace(due=True) for each in known]
            return self.ordered(self.later(redis, i), known, purse._replace(times=purse.times - 1), age + i)
        each = known[i]
        if name == "looks":
            redis, answer, _, _ = self.run(redis, known, i, Request("take", 1))
            open_now = self.count(redis) == 0
            must(answer[0] == (GRANTED if open_now else BUSY), f"who waits was told {answer}")
            known[i] = each._replace(done=open_now, hears=0 if open_now else 1, due=not open_now and not each.hears)
            return self.ordered(redis, known, purse, age)
        if name == "request late":
            known[i] = each._replace(asks=True, strays=each.strays + 1)
            return self.ordered(redis, known, purse._replace(faults=purse.faults - 1), age)
        redis, answer = self.change(redis, known, i)
        each = known[i]
        if name == "arrives":
            known[i] = each._replace(strays=each.strays - 1)
        elif name == "reply lost":
            purse, known[i] = purse._replace(faults=purse.faults - 1), each._replace(asks=True)
        else:
            must(answer[0] in (RELEASED, LOST), f"a count was told {answer}")
            if not each.asks:
                redis, _, _, _ = self.run(redis, known, i, Request("forget", 1))
            known[i] = each._replace(asks=False, done=True)
        return self.ordered(redis, known, purse, age)

    def change(self, redis, known, i):
        before, each, kind = self.count(redis), known[i], self.kinds[i]
        redis, answer, messages, _ = self.run(redis, known, i, Request(kind, 1))
        after = self.count(redis)
        changed = (before or 2) if kind == "set" else max(before - 1, 0)
        must(after == (before if each.counted else changed),
             f"{'set' if kind == 'set' else 'counted'} {'again ' * each.counted}from {before} to {after}")
        known[i] = each._replace(counted=True)
        if (before > 0) != (after > 0):
            told = [text for to, text in messages if to is None]
            must(told == ["1" if after else "0"], f"from {before} to {after}, and all are told {told}")
            for j, other in enumerate(known):
                known[j] = other._replace(due=other.due or other.hears > 0)
        return redis, answer


class SearchLatch(Search):
    def check(self, state):
        parts = self.model.redis(state)
        if self.model.count(state.redis):
            for part in parts:
                for key, sort, _, _, _, left in part:
                    must(sort or left >= 0 or key == "x", f"{key} never expires")
        else:
            left = [item for part in parts for item in part if "tombstone" not in item[0] or not item[1] and item[5] < 0]
            must(not left, f"it is open, and there is {left}")
        for each, kind in zip(self.model.known(state), self.model.kinds):
            waits = kind == "wait" and not each.done and not each.due
            must(not waits or self.model.count(state.redis), "it is open, and one who waits was not told")
        yield from ()

    def line(self, state, action):
        return f"[{self.model.count(state.redis)}] {' '.join(map(str, action))}"
