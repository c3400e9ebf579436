"""The models of `sem` and `plain` (see walk.py)."""
from client import BUSY, GRANTED, KEPT, LOST, REFUSED, RELEASED
from walk import LONG, SHORT, Model, must


class Hold:
    """What one attempt has taken. attempt is None for what --min-hold has left behind."""

    def __init__(self, who, token):
        self.attempt, self.permits, self.lease = who.attempt, who.options["permits"], who.lease
        self.owner, self.token = who.owner, str(token)


class Sem(Model):
    """Leased permits: never more in use than there are; value + permits in use is their number."""

    kinds = ("sem",)
    collects, reenters = True, False
    may_stay = {"x", "{x}:timeout"}

    def __init__(self, *words):
        super().__init__(*words)
        self.total, self.holds = None, []

    def options(self):
        right, wrong = self.total or 5, self.random.choice([4, 5, 6])
        total = self.random.choice(["", right, right, wrong])
        return {"permits": self.random.choice([1, 1, 2, 3]), "total": total}

    def choices(self, who):
        return [self.resize] if self.random.random() < 0.03 else super().choices(who)

    def resize(self, who):
        self.total = self.random.randint(3, 7)
        answer = self.lock.run("sem_resize", who.owner, LONG, "f" * 32, self.total)
        self.lock.run("forget", who.owner, LONG, "f" * 32, self.total)
        must(answer == [RELEASED, self.total, self.in_use()], "resized:", answer)

    def in_use(self):
        return sum(hold.permits for hold in self.holds)

    def find(self, who):
        return next((hold for hold in self.holds if hold.attempt == who.attempt), None)

    def expect(self, who):
        permits, total = who.options["permits"], who.options["total"]
        if self.find(who):
            return GRANTED
        if self.total is None and total == "":
            return REFUSED
        self.total = self.total or total
        agrees = total in ("", self.total) or who.place != ""  # who waits already outlives a change
        if not agrees or permits > self.total:
            return REFUSED
        return GRANTED if permits <= self.total - self.in_use() else BUSY

    def granted(self, who, answer, known):
        if not known:
            self.holds.append(Hold(who, answer[1]))
        must(str(answer[1]) == self.find(who).token, "token", answer)
        self.renewed(who)

    def busy(self, who, answer, _):
        pass

    def expect_renewal(self, who):
        return KEPT if self.find(who) else LOST

    def renewed(self, who):
        self.find(who).lease = max(self.find(who).lease, who.lease)

    def expect_release(self, who, owner, keep):
        return RELEASED if self.find(who) else LOST

    def released(self, who, answer, keep):
        known = self.find(who)
        if keep:
            known.attempt, known.lease = None, SHORT
        else:
            self.holds.remove(known)
            self.freed = True

    def left(self, who):
        pass

    def check_wake(self):
        """The first few are told whose requests fit in together; who was told before is on its way."""
        woken = self.woken()
        beats = self.server.value(self.lock.keys[5]) or {}
        told = woken | {owner for owner, state in beats.items() if state.startswith("woken")}
        wants = {who.owner: who.options.get("permits", 1) for who in self.living + self.dead}
        rest = self.total - self.in_use() - sum(wants[owner] for owner in woken)
        must(rest >= 0 or not woken, "too many woken:", self.told)
        rest -= sum(wants.get(owner, 0) for owner in told - woken)
        line = self.server.value(self.lock.keys[4]) or {}
        deaf = line.keys() - {who.owner for who in self.waiting()}
        few = len(deaf) + len(woken) < 5
        for who in self.waiting():
            fits = few and who.options["permits"] <= rest
            must(who.owner in told or not fits, who, "not woken:", self.told)

    def ids(self, who):
        own = bytes.fromhex(who.attempt)
        more = [own[:12] + i.to_bytes(4, "big") for i in range(2, who.options["permits"] + 1)]
        return [each.decode("latin-1") for each in [own] + more]

    def lease_left(self, who):
        permits = self.server.value("{x}:timeout")
        return min(permits[each] for each in self.ids(who)) - self.server.now()

    def expire(self):
        self.holds = [hold for hold in self.holds if hold.lease == LONG]

    def check(self, seen):
        if self.total is None:
            return
        permits, now = seen.get("{x}:timeout") or {}, self.server.now()
        must(int(seen["x"]) + len(permits) == self.total, "sum:", seen["x"], permits, self.total)
        live = [each for each, ends in permits.items() if ends > now]
        must(len(live) == self.in_use(), "in use:", live, self.in_use())
        self.check_holds(seen, all_live=len(live) == len(permits))

    def check_holds(self, seen, all_live):
        stands = seen.get(self.lock.keys[3]) or {}
        known = {attempt: stands[attempt].split()[0] for attempt in stands if len(attempt) == 32}
        left_held = [known.pop(attempt) for attempt in list(known) if known[attempt] == "-"]
        owned = {hold.attempt: hold.token for hold in self.holds if hold.attempt}
        must(owned.items() <= known.items(), "holds", known, owned)
        if all_live:  # what the dead left has been collected
            must(known == owned, "holds", known, owned)
            must(len(left_held) <= len(self.holds) - len(owned), "left held", left_held)
            shown = set(seen.get(self.lock.keys[2]) or {})
            must(shown <= {hold.owner for hold in self.holds}, "shown", shown)
            must(shown >= {hold.owner for hold in self.holds if hold.attempt}, "not shown", shown)

    def take_last(self):
        answer = self.lock.take("last", "e" * 32, permits=self.total, total=self.total)
        must(answer[0] == GRANTED, "still not free:", answer)
        must(self.lock.give("last", "e" * 32, permits=self.total)[0] == RELEASED, "lost at the end")
        self.look()


class Plain(Sem):
    """Permits without a lease: those of the dead are lost."""

    kinds = ("plain",)
    can_keep = collects = False
    may_stay = {"x"}

    def choices(self, who):
        return Model.choices(self, who)

    def options(self):
        return {"permits": self.random.choice([1, 1, 2]), "total": self.random.choice(["", 9])}

    def check_lease(self, who):
        pass

    def expire(self):
        pass

    def check(self, seen):
        if self.total is not None:
            must(int(seen["x"]) == self.total - self.in_use(), "sum:", seen["x"], self.in_use())
            self.check_holds(seen, all_live=True)

    def take_last(self):
        must(int(self.server("GET", "x")) == self.total - self.in_use(), "permits lost or made")
