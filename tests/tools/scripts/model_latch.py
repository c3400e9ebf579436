"""The model of `latch` (see walk.py): set, waited for, counted down by attempts often repeated."""
from client import BUSY, GRANTED, LOST, RELEASED
from walk import LONG, Model, must


class Latch(Model):
    kinds = ("latch",)
    may_stay = {"x"}

    def __init__(self, *words):
        super().__init__(*words)
        self.count, self.done = None, set()
        self.sets = set()  # what has set it, once, and has not heard of that
        self.calls = []  # that may be repeated

    def step(self):
        self.do(self.random.choice([self.set, self.attempt, self.repeat] + 3 * [self.down]))

    def call(self, script, attempt, number, expected, message):
        self.listener.listen(self.lock.channel)
        answer = self.lock.run(script, "someone", LONG, attempt, number)
        must(answer[:2] == expected, script, number, "expected", expected, "got", answer)
        told = [said for _, said in self.listener.messages()]
        must(told == message, script, number, "said", told)

    def set(self, attempt=None, number=None):
        attempt = attempt or f"{self.random.getrandbits(128):032x}"
        number = number or self.random.randint(1, 6)
        self.calls.append((self.set, attempt, number))
        if attempt in self.sets or self.count is not None:
            expected = [RELEASED if attempt in self.sets else LOST, self.count or 0]
            self.call("latch_set", attempt, number, expected, [])
            return
        self.count, self.done = number, {attempt}
        self.sets.add(attempt)
        self.call("latch_set", attempt, number, [RELEASED, number], ["1"])
        if self.random.random() < 0.5:
            self.calls.pop()
            self.sets.remove(attempt)
            self.call("latch_set", attempt, 0, [RELEASED, number], [])

    def down(self, attempt=None, by=None):
        attempt = attempt or f"{self.random.getrandbits(128):032x}"
        by = self.random.choice([0, 1, 1, 1, 2]) if by is None else by
        self.calls.append((self.down, attempt, by))
        if self.count is None:
            self.call("latch_down", attempt, by, [LOST, 0], [])
        elif by == 0 or attempt in self.done:
            self.call("latch_down", attempt, by, [RELEASED, self.count], [])
        elif by < self.count:
            self.count -= by
            self.done.add(attempt)
            self.call("latch_down", attempt, by, [RELEASED, self.count], [])
        else:
            self.count, self.done = None, set()
            self.call("latch_down", attempt, by, [RELEASED, 0], ["0"])

    def repeat(self):
        """As after a lost answer, perhaps with others in between."""
        if self.calls:
            action, attempt, number = self.random.choice(self.calls[-3:])
            action(attempt, number)

    def attempt(self):
        must_exist = self.random.choice(["must-exist", ""])
        place = self.random.choice(["", "0", "1"])
        answer = self.lock.take("someone", "a" * 32, variant=must_exist, place=place)
        if self.count is not None:
            must(answer[0:3] == [BUSY, -1, 1] and answer[9] == self.count, "expected busy:", answer)
        elif must_exist and place != "1":
            must(answer[0:3] == [BUSY, -1, 0], "expected to wait for it:", answer)
        else:
            must(answer[0] == GRANTED, "expected open:", answer)

    def check(self, seen):
        must(seen.get("x") == (None if self.count is None else str(self.count)), "count", seen)
        must(set(seen.get(self.lock.keys[3]) or {}) == self.done, "attempts", seen)
        must(set(seen) <= {"x", self.lock.keys[3], *map(self.tombstone, self.sets)}, "keys", seen)

    def end(self):
        if self.count is not None:
            self.down(by=self.count)
        must(set(self.server.keys()) == {*map(self.tombstone, self.sets)}, "left behind:", self.server.see())

    @staticmethod
    def tombstone(attempt):
        return f"rlock_tombstone:{attempt}:{{x}}"
