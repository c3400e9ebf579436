"""A random walk over the scripts of one kind: processes take, renew, give back, wait, leave and
die, and after every step what Redis has is compared with what a model of the kind says.

Time passes in pauses only, and as Redis sees it: all that is kept as a time moves into the past. A
short lease ends in the next pause, a long one outlives the round. So a seed decides all that
happens, in the time that it takes to happen.
"""
import random
import time

from client import (BUSY, GRANTED, LOST, OUSTED, REENTERED, REFUSED, RELEASED, STILL_HELD, Listener,
                    Lock, Server)

PAUSE, SHORT, LONG, EVER = 1850, 1800, 600000, 400 * 24 * 3600 * 1000  # ms
PROCESSES = 6
TAKEN = {GRANTED: "granted", REENTERED: "re-entered", BUSY: "busy", REFUSED: "refused",
         OUSTED: "ousted"}
GIVEN = {RELEASED: "released", STILL_HELD: "still held", LOST: "lost or left"}


class TooSlow(Exception):
    """More time has passed than the model knows of."""


def must(true, *said):
    if not true:
        raise AssertionError(" ".join(str(each) for each in said))


class FrugalLock(Lock):
    """No script runs more than about 40 commands, whatever comes together. Not in all walks: counting takes its time."""

    MOST, SHARE = 50, 0.3

    def run(self, script, *words, **options):
        before = self.server.commands()
        answer = super().run(script, *words, **options)
        spent = self.server.commands() - before
        must(spent <= self.MOST, script, "has run", spent, "commands")
        return answer


class Process:
    """One rlock: one attempt, which waits or holds."""

    def __init__(self, number):
        self.owner = f"{number:08x}-2222-4333-8444-555555555555:{number}@host"
        self.listens = False
        self.attempt, self.lock, self.lease = None, None, LONG
        self.proof, self.options = ("", ""), {}
        self.waits = self.holds = False
        self.under, self.place = self.owner, ""

    def __repr__(self):
        kind = self.lock.kind if self.lock else "-"
        state = "holds" if self.holds else "waits" if self.waits else ""
        return (f"{self.owner[6:8]}({kind} {state} {(self.attempt or '')[:4]} {self.lease} "
                f"{self.options} {self.proof[0][6:8]})")


class Model:
    """What all kinds have in common. A kind says what it expects of the three scripts, what their
    answers change, and what Redis has then."""

    kinds = ()
    can_keep = reenters = True
    collects = False  # what has expired stays until the next one comes
    may_stay = set()  # keys that have no expiry

    def __init__(self, path, seed):
        self.server, self.listener = Server(path), Listener(path)
        self.server("FLUSHALL")
        self.random = random.Random(seed)
        self.mortal = self.random.random() < 0.7
        counts = random.Random(f"{seed} counts").random() < FrugalLock.SHARE
        self.locks = [(FrugalLock if counts else Lock)(self.server, kind) for kind in self.kinds]
        self.lock = self.locks[0]
        self.living, self.dead, self.proofs = [], [], [("stranger", "1")]
        self.born = self.steps = self.until_pause = self.last_token = 0
        self.pauses = [time.monotonic()]
        self.told, self.left_to_live, self.counts = [], {}, {}
        while len(self.living) < PROCESSES:
            self.bear()

    def close(self):
        self.server.close()
        self.listener.close()

    def bear(self):
        self.born += 1
        self.living.append(Process(self.born))

    # --- a step -----------------------------------------------------------------------------------

    def step(self):
        self.until_pause -= 1
        if self.until_pause < 0:
            self.until_pause = self.random.randint(2, 20)
            self.do(self.pause)
            for who in self.random.sample(self.living, PROCESSES):
                if who.waits:  # it beats
                    self.do(self.attempt, who)
        who = self.random.choice(self.living)
        self.do(self.random.choice(self.choices(who)), who)

    def do(self, action, *who):
        self.steps += 1
        self.tally(action.__name__)
        text = f"step {self.steps}: {action.__name__} {who}"
        try:
            action(*who)
            self.look()
        except AssertionError as error:
            raise AssertionError(f"{text}: {error}") from error

    def tally(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def choices(self, who):
        if not who.attempt:
            return [self.begin]
        if not who.holds:
            return [self.attempt, self.attempt, self.give] + [self.die][:self.mortal]
        dies = [self.die] if who.lease != LONG else []
        renewal = [self.renew, self.renew] if self.lock.renew_script else []
        return [self.attempt, self.give, self.give, self.give] + renewal + dies[:self.mortal]

    def begin(self, who):
        who.attempt = f"{self.random.getrandbits(128):032x}"
        who.lock = self.random.choice(self.locks)
        who.lease = self.random.choice([SHORT, LONG])
        if self.reenters:
            some = self.random.choice(self.proofs[-4:])
            who.proof = self.random.choice([("", ""), ("", ""), some])
        who.options = self.options()
        who.options["wait"] = self.random.random() < 0.7
        if who.options["wait"] and self.random.random() < 0.7:
            who.listens = True
            self.listener.listen(who.lock.own_channel(who.owner))
        self.attempt(who)

    def options(self):
        return {}

    def attempt(self, who):
        """For the first time, or again: as one that waits does, and one whose answer was lost."""
        before = self.before_attempt()
        expected = self.expect(who)
        answer = self.take(who)
        must(answer[0] == expected, "expected", expected, "got", answer)
        self.tally(TAKEN[expected])
        if answer[0] in (GRANTED, REENTERED):
            self.hold(who, answer)
        elif answer[0] == BUSY:
            self.wait(who, answer, before)
        else:
            self.give(who)

    def take(self, who):
        return who.lock.take(who.owner, who.attempt, who.lease, proof=who.proof, place=who.place, **who.options)

    def before_attempt(self):
        return None

    def hold(self, who, answer):
        known = self.find(who)
        if answer[0] == GRANTED and not known:
            must(answer[1] > self.last_token, "token", answer[1], "after", self.last_token)
            self.last_token = answer[1]
        who.holds, who.waits = True, False
        self.deafen(who)
        who.under = who.proof[0] if answer[0] == REENTERED else who.owner
        self.proofs.append((who.under, str(answer[1])))
        self.granted(who, answer, known)
        self.check_lease(who)

    def wait(self, who, answer, before):
        expired, who.holds = who.holds, False
        self.busy(who, answer, before)
        if who.options["wait"]:
            who.waits, who.place = True, answer[2]
        elif expired:
            self.give(who)
        else:
            self.end_of(who)

    def renew(self, who):
        expected = self.expect_renewal(who)
        answer = who.lock.renew(who.under, who.attempt, who.lease, who.options.get("permits", 1))
        must(answer[0] == expected, "expected", expected, "got", answer)
        self.tally("lost" if answer[0] == LOST else "renewed")
        if answer[0] != LOST:
            self.renewed(who)
            self.check_lease(who)

    def give(self, who):
        """Gives back, or leaves the line; often once more, as after a lost answer."""
        keep = SHORT if self.can_keep and who.holds and self.random.random() < 0.2 else 0
        owner = who.under if who.holds else who.proof[0] or who.owner
        words = (owner, who.attempt, who.lease, who.options.get("permits", 1), keep, who.owner)
        expected = self.expect_release(who, owner, keep)
        self.freed, self.before = False, self.before_attempt()
        self.listener.messages()
        answer = who.lock.give(*words)
        must(answer[0] == expected, "expected", expected, "got", answer)
        self.tally(GIVEN[expected])
        if expected != LOST:
            self.released(who, answer, keep)
        self.told = self.listener.messages()
        who.waits = False
        self.left(who)
        if self.freed:
            self.tally("heard" if self.woken() else "unheard")
            self.check_wake()
        if self.random.random() < 0.4:
            self.look()
            if self.lock.renew_script:
                answer = who.lock.renew(owner, who.attempt, who.lease, words[3])
                must(answer[0] == LOST, "a renewal outlives the release:", answer)
            answer = who.lock.give(*words)
            must(answer[0] == LOST, "released twice:", answer)
        self.end_of(who)

    def die(self, who):
        self.dead.append(who)
        self.end_of(who)

    def pause(self):
        self.server.let_pass(PAUSE)
        self.pauses.append(time.monotonic())
        if self.pauses[-1] - self.pauses[-6:][0] > 0.7:  # five pauses must be less than ten seconds
            raise TooSlow
        self.expire()

    def end_of(self, who):
        self.deafen(who)
        self.living.remove(who)
        self.bear()

    def deafen(self, who):
        if who.listens:
            self.listener.deafen(who.lock.own_channel(who.owner))
        who.listens = False

    # --- looking ----------------------------------------------------------------------------------

    def waiting(self, *kinds):
        return [who for who in self.living
                if who.waits and who.listens and who.lock.kind in (kinds or self.kinds)]

    def woken(self):
        """Who was told, on its own channel, to try."""
        before_owner = self.lock.own_channel("")
        return {channel[len(before_owner):] for channel, said in self.told
                if channel.startswith(before_owner) and said == "0"}

    def check_lease(self, who):
        """The server keeps what the answer has promised."""
        left = self.lease_left(who)
        must(left >= who.lease - 500, "answered", who.lease, "but the server keeps", left)

    def look(self):
        self.left_to_live, seen = {}, {}
        for key, (value, left) in self.server.see().items():
            must(left >= 0 or key in self.may_stay or key == self.lock.keys[1], "no expiry:", key)
            seen[key], self.left_to_live[key] = value, left
        self.check(seen)
        line = set(seen.get(self.lock.keys[4]) or {})
        known = {who.owner for who in self.living if who.waits} | {who.owner for who in self.dead}
        must(line <= known, "in line without waiting:", line - known)

    def end(self):
        """All give back, or expire: nothing is left, and the next one takes it."""
        for who in list(self.living):
            if who.attempt:
                self.give(who)
        self.server.let_pass(EVER if self.dead else PAUSE)
        self.expire()
        if self.dead or self.collects:
            self.take_last()
        left = self.server.keys() - self.may_stay
        must(not left, "left behind:", self.server.see())

    def take_last(self):
        """What has no expiry goes when the next one comes."""
        for lock in self.locks:
            answer = lock.take("last", "e" * 32, **self.options())
            must(answer[0] == GRANTED, "still not free:", answer)
            must(lock.give("last", "e" * 32)[0] != LOST, "lost at the end")


def play(model, path, seed, steps):
    """One round. Returns the model, for what it has counted."""
    for _ in range(10):
        walk = model(path, seed)
        try:
            for _ in range(steps):
                walk.step()
            walk.end()
            return walk
        except TooSlow:
            print(f"the machine was busy elsewhere: {seed} once more")
        finally:
            walk.close()
    raise TooSlow("the machine is too slow for this test")
