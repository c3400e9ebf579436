"""The model of `latch` (see walk.py): set, waited for, counted down by attempts often repeated."""
from client import BUSY, GRANTED, LOST, RELEASED
from walk import LONG, Model, must


class Latch(Model):
    kinds = ("latch",)
    may_stay = {"x"}

    def __init__(self, *words):
        super().__init__(*words)
        self.count = None
        self.codes = {}  # by the attempt that has not heard of it: what it was told
        self.calls = []  # that may be repeated

    def step(self):
        self.do(self.random.choice([self.set, self.attempt, self.repeat, self.forget] + 3 * [self.down]))

    def call(self, script, attempt, number, expected, message):
        self.listener.listen(self.lock.channel)
        answer = self.lock.run(script, "someone", LONG, attempt, number)
        must(answer[:2] == expected, script, number, "expected", expected, "got", answer)
        told = [said for _, said in self.listener.messages()]
        must(told == message, script, number, "said", told)

    def once(self, script, attempt, number, change):
        """change(): the code of the answer, and the message; not if it was carried out before."""
        message = []
        if attempt not in self.codes:
            self.codes[attempt], message = change()
        self.call(script, attempt, number, [self.codes[attempt], self.count or 0], message)

    def set(self, attempt=None, number=None):
        attempt = attempt or f"{self.random.getrandbits(128):032x}"
        number = number or self.random.randint(1, 6)
        self.calls.append((self.set, attempt, number))

        def change():
            if self.count is not None:
                return LOST, []
            self.count = number
            return RELEASED, ["1"]
        self.once("latch_set", attempt, number, change)

    def down(self, attempt=None, by=None):
        attempt = attempt or f"{self.random.getrandbits(128):032x}"
        by = self.random.choice([0, 1, 1, 1, 2]) if by is None else by

        def change():
            if self.count is None:
                return LOST, []
            if by < self.count:
                self.count -= by
                return RELEASED, []
            self.count = None
            return RELEASED, ["0"]
        if by == 0:
            self.call("latch_down", attempt, 0, [LOST if self.count is None else RELEASED, self.count or 0], [])
        else:
            self.calls.append((self.down, attempt, by))
            self.once("latch_down", attempt, by, change)

    def forget(self):
        """Its answer has come, and nothing of it is on its way."""
        if self.codes:
            attempt = self.random.choice(list(self.codes))
            self.calls = [each for each in self.calls if each[1] != attempt]
            del self.codes[attempt]
            self.call("forget", attempt, 1, [RELEASED, 0], [])

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
        must(len(seen.get(self.lock.keys[3]) or {}) == (0 if self.count is None else 1), "mark", seen)
        must(set(seen) <= {"x", self.lock.keys[3], *map(self.tombstone, self.codes)}, "keys", seen)

    def end(self):
        if self.count is not None:
            self.down(by=self.count)
        must(set(self.server.keys()) == {*map(self.tombstone, self.codes)}, "left behind:", self.server.see())

    @staticmethod
    def tombstone(attempt):
        return f"rlock_tombstone:{attempt}:{{x}}"
