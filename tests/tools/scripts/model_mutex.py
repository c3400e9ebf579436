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
        self.queue, self.age = [], {}  # owners; for how many pauses each has not beaten
        self.rivals, self.ousted = set(), set()  # with --supersede: who waits, who may not any more
        self.untouched = 0  # for how many pauses nothing has happened in the queue

    def options(self):
        return {"variant": self.random.choice(["", "", "supersede"])}

    def free(self):
        return self.holder is None

    def find(self, who):
        return self.holder and who.attempt in self.holds

    def drop_silent(self, who):
        away = min([self.age[owner] for owner in self.queue], default=0)
        if who.options["wait"] and away * PAUSE > 5000:  # all silent: the server was away
            self.age = {owner: age - away for owner, age in self.age.items()}
        for owner in list(self.queue):
            if self.age[owner] * PAUSE > 7000 and owner != who.owner:
                self.unqueue(owner)

    def expect(self, who):
        if self.find(who):
            return GRANTED if self.holder == who.owner else REENTERED
        if self.holder and who.proof == (self.holder, self.token):
            return REENTERED
        if who.lock.kind == "fair":
            self.drop_silent(who)
            if self.is_ousted(who):
                return OUSTED
            mine = not self.queue or self.queue[0] == who.owner
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
        must(answer[3] == (self.holder or self.queue[0]), "busy with", answer[3])
        if who.lock.kind == "fair":
            place, waiting = len(self.queue) + 1, len(self.queue)
            if who.options["wait"]:
                if who.owner not in self.queue:
                    self.stand(who)
                self.age[who.owner] = self.untouched = 0
                place, waiting = self.queue.index(who.owner) + 1, len(self.queue)
            must((answer[2], answer[9]) == (place, waiting), "place", answer, place, waiting)

    def is_ousted(self, who):
        """By a later one, or by who waits where it has stood before."""
        came_back = who.options["variant"] and who.place and who.owner not in self.queue
        return who.owner in self.ousted or (came_back and self.rivals)

    def stand(self, who):
        if who.options["variant"]:
            self.queue = [owner for owner in self.queue if owner not in self.rivals]
            self.ousted |= self.rivals
            self.rivals = {who.owner}
        self.queue.append(who.owner)

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
        if owner in self.queue:
            self.queue.remove(owner)
            self.untouched = 0

    def left(self, who):
        self.freed = self.freed or self.queue[:1] == [who.owner]
        self.unqueue(who.owner)

    def check_wake(self):
        ears = [other.owner for other in self.waiting()]
        if self.queue and self.queue[0] in ears:
            head = self.queue[0]
            must(self.woken() == {head}, "woken:", self.told, "not the head alone", head)
        elif self.free() and self.waiting("run"):
            must(len(self.woken()) == 1, "woken:", self.told, "of", self.waiting("run"))

    def lease_left(self, who):
        return self.server("PTTL", "x")

    def expire(self):
        if self.holder and not self.long:
            self.holder, self.token, self.holds = None, None, {}
        self.kept = False
        self.age = {owner: age + 1 for owner, age in self.age.items()}
        self.untouched += 1
        if self.untouched * PAUSE > 10000:
            self.queue, self.rivals = [], set()

    def check(self, seen):
        lock, hold = seen.get("x"), dict(seen.get("rlock_hold:{x}") or {})
        expected = None if self.free() else {self.holder: str(max(1, len(self.holds)))}
        must(lock == expected, "lock", lock, expected)
        hold.pop("until", None)
        must(hold.pop(self.holder, None) == self.token, "token", seen)
        must(set(hold) == set(self.holds), "holds", hold)
        if not self.free():
            must((self.left_to_live["x"] > LONG / 2) == self.long, "expiry", self.left_to_live)
        queue, timeouts, beats = (seen.get(key) or [] for key in self.lock.keys[5:8])
        must(queue == self.queue, "queue", queue, self.queue)
        must(set(timeouts) == set(beats) == set(queue), "queue", queue, timeouts, beats)
        line = seen.get(self.lock.keys[4]) or {}
        for who in self.waiting("run"):
            must(who.owner in line, "lost its place:", who)
