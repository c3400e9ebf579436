"""The model of `run` and `fair` (see walk.py)."""
import json

from client import BUSY, GRANTED, KEPT, LOST, OUSTED, REENTERED, RELEASED, STILL_HELD
from walk import LONG, PAUSE, SHORT, Model, must


class Hold:
    """One hold. attempt is None for one that --min-hold has left behind."""

    def __init__(self, owner, attempt, lease):
        self.owner, self.attempt, self.lease = owner, attempt, lease

    def leave(self):
        """To nobody, for a short time."""
        self.owner, self.attempt, self.lease = self.owner + "#kept", None, SHORT


class Mutex(Model):
    """`run` and `fair` of one name: one holder, a queue, and `run` may barge."""

    kinds = ("run", "fair")

    def __init__(self, *words):
        super().__init__(*words)
        self.holds, self.gone, self.token = [], [], None  # gone: their leases are over, perhaps not swept yet
        self.order = []  # who waits in the queue, by their coming
        self.rivals, self.ousted = set(), set()  # with --supersede: who waits, who may not any more
        self.age = {}  # of the dead: for how many pauses they have been in the way of others

    @property
    def queue(self):
        return self.server("LRANGE", self.lock.keys[7], 0, -1)

    def options(self):
        return {"variant": self.random.choice(["", "", "supersede"])}

    def holders(self):
        """Who may be said to hold it."""
        return {hold.owner for hold in self.holds + self.gone} if self.holds else set()

    def free(self):
        return not self.holds

    def find(self, who):
        return next((hold for hold in self.holds if hold.attempt == who.attempt), None)

    def around(self, who):
        return who.proof[1] == self.token and any(hold.owner == who.proof[0] for hold in self.holds)

    def expect(self, who):
        known = self.find(who)
        if known:
            return GRANTED if known.owner == who.owner else REENTERED
        if self.around(who):
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
            self.holds, self.gone, self.token = [], [], str(answer[1])
            self.unqueue(who.owner)
        must(str(answer[1]) == self.token, "token", answer[1], "not", self.token)
        if not known:
            self.holds.append(Hold(who.under, who.attempt, who.lease))

    def busy(self, who, answer, _):
        if who.lock.kind != "fair":
            must(answer[3] in self.holders(), "busy with", answer[3])
            return
        queue = self.before
        must(answer[3] in (self.holders() or {queue[0]}), "busy with", answer[3])
        place, waiting = len(queue) + 1, len(queue)
        if who.options["wait"]:
            if who.owner not in queue:
                must(who.owner not in self.order, "lost its place:", who)
                queue = self.stand(who, queue)
            place, waiting = queue.index(who.owner) + 1, len(queue)
        must((answer[2], answer[9]) == (place, waiting), "place", answer, place, waiting)

    def is_ousted(self, who):
        """By a later one. No tickets are shown here, so only the last one that was superseded is known."""
        return who.options["variant"] and who.owner in self.ousted and who.owner not in self.before

    def stand(self, who, queue):
        if who.options["variant"]:
            queue = [owner for owner in queue if owner not in self.rivals]
            self.order = [owner for owner in self.order if owner not in self.rivals]
            self.ousted = self.rivals or self.ousted
            self.rivals = {who.owner}
        self.order.append(who.owner)
        return queue + [who.owner]

    def expect_renewal(self, who):
        known = self.find(who)
        return KEPT if known and known.owner == who.under else LOST

    def renewed(self, who):
        pass

    def expect_release(self, who, owner, keep):
        known = self.find(who)
        if not known or known.owner not in (owner, who.owner):
            return LOST
        others = [hold for hold in self.holds if hold.owner == known.owner and hold is not known]
        self.unswept = not others and len(self.gone) > 2  # they are counted, too
        return STILL_HELD if others else RELEASED

    def released(self, who, answer, keep):
        known = self.find(who)
        if keep:
            known.leave()
        else:
            self.holds.remove(known)
        must(answer[1] >= sum(hold.owner == who.under for hold in self.holds), "left", answer)
        if not any(hold.attempt for hold in self.holds):
            self.token = None
        self.freed = self.free()

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
        member = f"{self.find(who).owner} {who.attempt}"
        ends = int(self.server("ZSCORE", self.lock.keys[3], member)) - self.server.now()
        return min(ends, self.server.left("x"))

    def expire(self):
        self.gone += [hold for hold in self.holds if hold.lease != LONG]
        self.holds = [hold for hold in self.holds if hold.lease == LONG]
        if not any(hold.attempt for hold in self.holds):
            self.token = None
        if self.order:
            self.age = {owner: age + 1 for owner, age in self.age.items()}

    def check(self, seen):
        lock, shown = dict(seen.get("x") or {}), seen.get(self.lock.keys[2]) or {}
        fields = {hold.owner for hold in self.holds + self.gone}
        must(set(lock) <= fields, "lock", lock, fields)
        for field in fields:
            living = sum(hold.owner == field for hold in self.holds)
            dead = sum(hold.owner == field for hold in self.gone)
            must(living <= int(lock.get(field, 0)) <= living + dead, "holds", field, lock)
        must(self.free() or (self.left_to_live["x"] > LONG / 2) == any(hold.lease == LONG for hold in self.holds),
             "expiry", self.left_to_live)
        must(set(shown) <= set(lock), "shown", shown, lock)
        for owner in {hold.owner for hold in self.holds if hold.attempt}:
            must(json.loads(shown[owner])["token"] == int(self.token), "token", shown)
        members = {f"{hold.owner} {hold.attempt}" for hold in self.holds if hold.attempt}
        must(members <= set(seen.get(self.lock.keys[3]) or {}), "leases", seen)
        queue, timeouts, waiters, beats = (seen.get(key) or [] for key in self.lock.keys[7:11])
        must(set(timeouts) == set(waiters) == set(queue), "queue", queue, timeouts, waiters)
        must(set(beats) <= set(queue), "beats", beats, queue)
        must([owner for owner in queue if owner in self.order] == self.order, "order", queue, self.order)
        for owner in queue:
            must(self.age.get(owner, 0) * PAUSE < 20000, "dead, and still there:", owner)  # forgiven once
        line = seen.get(self.lock.keys[4]) or {}
        for who in self.waiting("run"):
            must(who.owner in line, "lost its place:", who)
