"""The model of `run` and `fair` (see walk.py)."""
from client import BUSY, GRANTED, KEPT, LOST, OUSTED, REENTERED, RELEASED, STILL_HELD
from walk import LONG, PAUSE, Model, must


class Mutex(Model):
    """`run` and `fair` of one name: one holder, a queue, and `run` may barge."""

    kinds = ("run", "fair")

    def __init__(self, *words):
        super().__init__(*words)
        self.holder, self.token, self.holds = None, None, {}  # attempt: its lease
        self.long = self.kept = False
        self.order = []  # who waits in the queue, by their coming
        self.rivals, self.ousted = set(), set()  # with --supersede: who waits, who may not any more
        self.age = {}  # of the dead: for how many pauses they have been in the way of others

    @property
    def queue(self):
        return self.server("LRANGE", self.lock.keys[6], 0, -1)

    def options(self):
        return {"variant": self.random.choice(["", "", "supersede"])}

    def free(self):
        return self.holder is None

    def find(self, who):
        return self.holder and who.attempt in self.holds

    def expect(self, who):
        if self.find(who):
            return GRANTED if self.holder == who.owner else REENTERED
        if self.holder and who.proof == (self.holder, self.token):
            return REENTERED
        if who.lock.kind == "fair":
            self.before = queue = self.queue
            if self.is_ousted(who):
                return OUSTED
            mine = not queue or queue[0] == who.owner
            return GRANTED if mine and self.free() else BUSY
        return GRANTED if self.free() else BUSY

    def granted(self, who, answer, known):
        if not known and answer[0] == GRANTED:
            self.holder, self.token, self.holds = who.owner, str(answer[1]), {}
            self.long = self.kept = False
            self.unqueue(who.owner)
        must(str(answer[1]) == self.token, "token", answer[1], "not", self.token)
        self.holds.setdefault(who.attempt, who.lease)
        self.long = self.long or who.lease == LONG

    def busy(self, who, answer, _):
        if who.lock.kind != "fair":
            must(answer[3] == self.holder, "busy with", answer[3])
            return
        queue = self.before
        must(answer[3] == (self.holder or queue[0]), "busy with", answer[3])
        place, waiting = len(queue) + 1, len(queue)
        if who.options["wait"]:
            if who.owner not in queue:
                must(who.owner not in self.order, "lost its place:", who)
                queue = self.stand(who, queue)
            place, waiting = queue.index(who.owner) + 1, len(queue)
        must((answer[2], answer[9]) == (place, waiting), "place", answer, place, waiting)

    def is_ousted(self, who):
        """By a later one, or by who waits where it has stood before."""
        came_back = who.options["variant"] and who.place and who.owner not in self.before
        return who.owner in self.ousted or (came_back and self.rivals.intersection(self.before))

    def stand(self, who, queue):
        if who.options["variant"]:
            queue = [owner for owner in queue if owner not in self.rivals]
            self.order = [owner for owner in self.order if owner not in self.rivals]
            self.ousted |= self.rivals
            self.rivals = {who.owner}
        self.order.append(who.owner)
        return queue + [who.owner]

    def expect_renewal(self, who):
        return KEPT if self.find(who) and self.holder == who.under else LOST

    def renewed(self, who):
        self.long = self.long or who.lease == LONG

    def expect_release(self, who, owner, keep):
        if not self.find(who) or self.holder not in (owner, who.owner):
            return LOST
        return STILL_HELD if len(self.holds) > 1 else RELEASED

    def released(self, who, answer, keep):
        del self.holds[who.attempt]
        must(answer[1] == len(self.holds), "left", answer)
        self.kept = self.kept or keep > 0
        self.long = LONG in self.holds.values()
        if self.holds:
            return
        self.token = None
        if not self.kept:
            self.holder, self.freed = None, True

    def unqueue(self, owner):
        self.rivals.discard(owner)
        self.ousted.discard(owner)
        if owner in self.order:
            self.order.remove(owner)

    def die(self, who):
        self.order = [owner for owner in self.order if owner != who.owner]
        self.age[who.owner] = 0
        super().die(who)

    def give(self, who):
        self.first = self.queue[:1]
        super().give(who)

    def left(self, who):
        self.freed = self.freed or self.first == [who.owner]
        self.unqueue(who.owner)

    def check_wake(self):
        """Of the line the first that listens; the next too, if that one has been woken before."""
        ears, queue = [other.owner for other in self.waiting()], self.queue
        if queue and queue[0] in ears:
            if self.free():
                must(self.woken() == {queue[0]}, "woken:", self.told, "not the head alone", queue)
            return
        line = self.server("ZRANGE", self.lock.keys[4], 0, 4)
        if self.free() and [owner for owner in line if owner in ears]:
            must(1 <= len(self.woken()) <= 5, "woken:", self.told, "of", line)

    def lease_left(self, who):
        return self.server("PTTL", "x")

    def expire(self):
        if self.holder and not self.long:
            self.holder, self.token, self.holds = None, None, {}
        self.kept = False
        if self.order:
            self.age = {owner: age + 1 for owner, age in self.age.items()}

    def check(self, seen):
        lock, hold = seen.get("x"), dict(seen.get("rlock_hold:{x}") or {})
        expected = None if self.free() else {self.holder: str(max(1, len(self.holds)))}
        must(lock == expected, "lock", lock, expected)
        hold.pop("until", None)
        must(hold.pop(self.holder, None) == self.token, "token", seen)
        must(set(hold) == set(self.holds), "holds", hold)
        if not self.free():
            must((self.left_to_live["x"] > LONG / 2) == self.long, "expiry", self.left_to_live)
        queue, timeouts, waiters, beats = (seen.get(key) or [] for key in self.lock.keys[6:10])
        must(set(timeouts) == set(waiters) == set(queue), "queue", queue, timeouts, waiters)
        must(set(beats) <= set(queue), "beats", beats, queue)
        must([owner for owner in queue if owner in self.order] == self.order, "order", queue, self.order)
        for owner in queue:
            must(self.age.get(owner, 0) * PAUSE < 20000, "dead, and still there:", owner) # forgiven once
        line = seen.get(self.lock.keys[4]) or {}
        for who in self.waiting("run"):
            must(who.owner in line, "lost its place:", who)
