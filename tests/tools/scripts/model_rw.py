"""The model of `read` and `write` (see walk.py)."""
import json

from client import BUSY, GRANTED, KEPT, LOST, REENTERED, REFUSED, RELEASED, STILL_HELD
from walk import LONG, PAUSE, SHORT, Model, must

SOON = 1  # ms


class Hold:
    """One hold of a read/write lock. attempt is None for one that --min-hold has left behind."""

    def __init__(self, owner, kind, attempt, lease):
        self.owner, self.attempt, self.lease = owner, attempt, lease
        self.writes = kind == "write"

    @property
    def field(self):
        return self.owner + ":write" if self.writes else self.owner

    def leave(self):
        """To nobody, for a short time."""
        self.owner, self.attempt, self.lease = self.owner + "#kept", None, SHORT


class ReadWrite(Model):
    """Readers share, writers exclude; each hold has its own lease."""

    kinds = ("read", "write")

    def __init__(self, *words):
        super().__init__(*words)
        self.holds, self.gone, self.tokens = [], [], {}  # gone: dead, perhaps not yet swept
        self.dead_marker, self.age = None, 0  # of a dead writer, and how many pauses ago it was set

    def options(self):
        return {"variant": self.random.choice(["", "", "prefer-readers"])}

    def free(self):
        return not self.holds

    def find(self, who):
        return next((hold for hold in self.holds if hold.attempt == who.attempt), None)

    def of(self, field, holds=None):
        return [hold for hold in (self.holds if holds is None else holds) if hold.field == field]

    def writes(self):
        return [hold for hold in self.holds if hold.writes]

    def marker(self):
        return self.server("GET", self.lock.keys[7])

    before_attempt = marker

    def expect(self, who):
        known = self.find(who)
        if known:
            return GRANTED if known.owner == who.owner else REENTERED
        around = self.tokens.get(who.proof[0]) == who.proof[1]
        if who.lock.kind == "read":
            if around:
                return REENTERED
            return BUSY if self.writes() or self.marker() else GRANTED
        if self.free():
            return GRANTED
        if around:
            return REENTERED if self.of(who.proof[0] + ":write") else REFUSED
        return BUSY

    def take(self, who):
        """Each call takes out a few of the dead, and says when there are more: come again soon."""
        answer = super().take(who)
        while answer[0] == BUSY and answer[11] == SOON:
            answer = super().take(who)
        return answer

    def granted(self, who, answer, known):
        if not known:
            self.holds.append(Hold(who.under, who.lock.kind, who.attempt, who.lease))
            if answer[0] == GRANTED:
                self.tokens[who.owner] = str(answer[1])
        must(str(answer[1]) == self.tokens[who.under], "token", answer, self.tokens)
        self.renewed(who)

    def busy(self, who, answer, marker):
        who.beat = len(self.pauses)
        holders = {hold.owner for hold in self.holds} or {marker}
        must(answer[3] in holders, "busy with", answer[3], "not", holders)

    def expect_renewal(self, who):
        known = self.find(who)
        return KEPT if known and known.owner == who.under else LOST

    def renewed(self, who):
        known = self.find(who)
        known.lease = max(who.lease, known.lease)

    def expect_release(self, who, owner, keep):
        known = self.find(who)
        if not known or known.owner not in (owner, who.owner):
            return LOST
        self.bury_all()
        return STILL_HELD if len(self.of(known.field)) > 1 else RELEASED

    def bury_all(self):
        """The dead, of whom each call takes out one."""
        while self.server("ZCOUNT", self.lock.keys[3], "-inf", self.server.now()):
            self.locks[1].take("nobody", "f" * 32, wait=False)

    def released(self, who, answer, keep):
        known = self.find(who)
        if keep:
            known.leave()
        else:
            self.holds.remove(known)
        self.freed = not self.writes() and (known.writes or self.free())
        self.forget_tokens()

    def forget_tokens(self):
        """A token proves as long as a hold of its owner lives that is somebody's."""
        live = {hold.owner for hold in self.holds if hold.attempt}
        self.tokens = {owner: token for owner, token in self.tokens.items() if owner in live}

    def left(self, who):
        self.freed = self.freed or (self.before == who.owner and not self.writes())

    def check_wake(self):
        """A writer that waits is told; without one the first two in line: of those that listen."""
        ears = {other.owner for other in self.waiting()}
        all_writers = self.server("ZRANGE", self.lock.keys[8], 0, -1)
        writers, line = ([owner for owner in owners[:5] if owner in ears]
                         for owners in (all_writers, self.server("ZRANGE", self.lock.keys[4], 0, 4)))
        if writers:
            must(writers[0] in self.woken(), "woken:", self.told, "no writer", writers)
        elif len(all_writers) <= 5:
            must(set(line[:2]) <= self.woken(), "woken:", self.told, "not the first", line)

    def lease_left(self, who):
        known, left = self.find(who), self.server.left("x")
        ends = int(self.server("ZSCORE", self.lock.keys[3], f"{known.field} {who.attempt}")) - self.server.now()
        if known.writes:
            return min(ends, left)
        keys = [self.lock.lease_key(known.owner, i) for i in range(1, 9)]
        return min(ends, left, *[self.server.left(key) for key in keys if self.server("GET", key) == who.attempt])

    def expire(self):
        self.gone = [hold for hold in self.holds + self.gone if hold.lease != LONG]
        self.holds = [hold for hold in self.holds if hold.lease == LONG]
        self.forget_tokens()
        self.age += 1

    def check(self, seen):
        lock, known = dict(seen.get("x") or {}), seen.get(self.lock.keys[2]) or {}
        mode = lock.pop("mode", None)
        if self.holds:
            must(mode == "write" or not self.writes(), "mode", mode)
            long = any(hold.lease == LONG for hold in self.holds)
            must((self.left_to_live["x"] > LONG / 2) == long, "expiry", self.left_to_live)
        self.check_counts(lock)
        self.check_holds(seen, known)
        shown = set(known)
        must(shown <= {field.removesuffix(":write") for field in lock}, "shown", shown, lock)
        self.check_marker(seen.get(self.lock.keys[7]))

    def check_counts(self, lock):
        """Of a field there may be more than live: who has died is swept later."""
        fields = {hold.field for hold in self.holds + self.gone}
        must(set(lock) <= fields, "fields", lock)
        for field in fields:
            least, most = len(self.of(field)), len(self.of(field, self.holds + self.gone))
            must(least <= int(lock.get(field, 0)) <= most, "holds", field, lock, least, most)

    def check_holds(self, seen, known):
        for owner in {hold.owner for hold in self.holds}:
            leases = [key for key in seen if key.startswith("{x}:" + owner + ":")]
            must(len(leases) == len(self.of(owner)), "leases", leases)
            ids = {seen[key] for key in leases}
            must({hold.attempt for hold in self.of(owner) if hold.attempt} <= ids, "leases", leases, ids)
            token = json.loads(known[owner]).get("token")
            must(str(token) == self.tokens.get(owner, "None"), "token", owner, known, self.tokens)
        members = set(seen.get(self.lock.keys[3]) or {})
        owned = {f"{hold.field} {hold.attempt}" for hold in self.holds if hold.attempt}
        must(owned <= members, "holds", members)

    def check_marker(self, marker):
        writers = [who.owner for who in self.waiting("write")
                   if not who.options["variant"] and who.beat == len(self.pauses)]
        must(marker or not writers, "no marker for", writers)
        kept = any(who.waits and who.lock.kind == "write" and not who.options["variant"] for who in self.living)
        if kept or marker != self.dead_marker or marker not in [who.owner for who in self.dead]:
            self.dead_marker, self.age = marker, 0
        must(self.age * PAUSE < 6000, "a dead writer's marker", marker)
