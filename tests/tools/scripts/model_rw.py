"""The model of `read` and `write` (see walk.py)."""
from client import BUSY, GRANTED, KEPT, LOST, REENTERED, REFUSED, RELEASED, STILL_HELD
from walk import LONG, PAUSE, SHORT, Model, must


class Hold:
    """One hold of a read/write lock. attempt is None for one that --min-hold has left behind."""

    def __init__(self, owner, kind, attempt, lease):
        self.owner, self.attempt, self.lease, self.asked = owner, attempt, lease, lease
        self.writes = kind == "write"
        self.field = owner + ":write" if self.writes else owner


class ReadWrite(Model):
    """Readers share, writers exclude; each read hold has its own lease, all write holds one."""

    kinds = ("read", "write")

    def __init__(self, *words):
        super().__init__(*words)
        self.holds, self.gone, self.tokens = [], [], {}  # gone: dead, perhaps not yet swept
        self.kept = False  # by a write hold, for the outer ones
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
        return self.server("GET", self.lock.keys[6])

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

    def attempt(self, who):
        """But into a write that --min-hold has left, through a read of its owner: not looked at."""
        left_held = [hold.owner for hold in self.holds if hold.writes and not hold.attempt]
        if who.lock.kind == "read" or who.proof[0] not in left_held:
            super().attempt(who)

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
        together = self.writes() if known.writes else [known]
        for hold in together:
            hold.lease = max(who.lease, *[each.lease for each in together], 0)

    def expect_release(self, who, owner, keep):
        known = self.find(who)
        if not known or known.owner not in (owner, who.owner):
            return LOST
        outer = len(self.of(known.field)) > 1
        return STILL_HELD if outer and (known.writes or not keep) else RELEASED

    def released(self, who, answer, keep):
        known = self.find(who)
        outer = [hold for hold in self.of(known.field) if hold is not known]
        if known.writes:
            self.kept = self.kept or keep > 0
            keep = 0 if outer else self.kept
        if keep:
            known.attempt, known.lease = None, SHORT
        else:
            self.holds.remove(known)
        for hold in outer if known.writes else []:
            hold.lease = max(each.asked for each in outer)
        self.freed = not self.writes() and (known.writes or self.free())
        self.forget_tokens()

    def forget_tokens(self):
        """A token proves as long as a hold of its owner lives that is somebody's."""
        self.kept = self.kept and bool(self.writes())
        live = {hold.owner for hold in self.holds if hold.attempt}
        self.tokens = {owner: token for owner, token in self.tokens.items() if owner in live}

    def left(self, who):
        self.freed = self.freed or (self.before == who.owner and not self.writes())

    def check_wake(self):
        """A writer that waits is told; without one, all who wait."""
        ears = {other.owner for other in self.waiting()}
        writers = {other.owner for other in self.waiting("write") if not other.options["variant"]}
        if writers:
            must(writers & self.woken(), "woken:", self.told, "no writer", writers)
        else:
            must(ears <= self.woken(), "woken:", self.told, "not all", ears)

    def lease_left(self, who):
        known = self.find(who)
        if known.writes:
            ends = int(self.server("HGET", self.lock.keys[3], known.field) or 0)
            return min(ends - self.server.now(), self.server.left("x"))
        number = [field for field, value in self.server.value(self.lock.keys[3]).items()
                  if value.startswith(who.attempt)][0].split(":")[-1]
        lease_key = self.lock.lease_key(known.owner, number)
        return min(self.server.left(lease_key), self.server.left("x"))

    def expire(self):
        self.gone = [hold for hold in self.holds + self.gone if hold.lease != LONG]
        self.holds = [hold for hold in self.holds if hold.lease == LONG]
        self.kept = False
        self.forget_tokens()
        self.age += 1

    def check(self, seen):
        lock, known = dict(seen.get("x") or {}), seen.get(self.lock.keys[3]) or {}
        mode = lock.pop("mode", None)
        if self.holds:
            must(mode == "write" or not self.writes(), "mode", mode)
            long = any(hold.lease == LONG for hold in self.holds)
            must((self.left_to_live["x"] > LONG / 2) == long, "expiry", self.left_to_live)
        self.check_counts(lock)
        self.check_holds(seen, known)
        shown = set(seen.get(self.lock.keys[2]) or {})
        must(shown <= {field.removesuffix(":write") for field in lock}, "shown", shown, lock)
        self.check_marker(seen.get(self.lock.keys[6]))

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
            must(known.get(owner) == self.tokens.get(owner), "token", owner, known, self.tokens)
        attempts = [value.split()[0] for value in known.values() if " " in value]
        must(len(attempts) == len(set(attempts)), "twice:", known)
        owned = {hold.attempt for hold in self.holds if hold.attempt}
        must(owned <= set(attempts) <= owned | {hold.attempt for hold in self.gone}, "holds", known)

    def check_marker(self, marker):
        writers = [who.owner for who in self.waiting("write")
                   if not who.options["variant"] and who.beat == len(self.pauses)]
        must(marker or not writers, "no marker for", writers)
        if marker != self.dead_marker or marker not in [who.owner for who in self.dead]:
            self.dead_marker, self.age = marker, 0
        must(self.age * PAUSE < 6000, "a dead writer's marker", marker)
