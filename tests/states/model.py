"""Clients and a server, as states that follow on each other.

A state is what Redis keeps, what each client knows (roles.py), and what may still happen (Purse). Clients of one
role that have the same past are the same.
"""
from typing import NamedTuple

import keys
import promises
from client import BUSY, GRANTED, KEPT, OUSTED, REENTERED, REFUSED, RELEASED, STILL_HELD
from promises import must
from roles import PROMPT, Local, Request, later, moved, script, told
from stage import Purse, Stage

SOON = 120000  # ms: what changes later has nothing to do with who waits
CLOCK = {"set back": (-60000, promises.SET_BACK), "set forth": (5000, promises.SET_FORTH)}  # by so many ms
OVER = -4
GOOD = {"renew": (KEPT,), "give": (RELEASED, STILL_HELD)}  # while the lease lasts


class State(NamedTuple):
    redis: tuple  # numbers of parts: nobody's, client 0's...
    locals: tuple  # numbers, too
    purse: Purse


class Model(Stage):
    def __init__(self, server, folder, roles, steps, faults, times, kinds_of_faults, broken=None, limit=41):
        super().__init__(server, folder, roles, broken, limit)
        self.kinds_of_faults = kinds_of_faults
        self.first = self.canonical(self.empty, [Local(steps=steps)] * len(roles), Purse(faults, times))

    # --- values --------------------------------------------------------------------------------------

    def canonical(self, redis, known, purse):
        """redis: numbers; known: Locals."""
        return State(*self.in_order(map(self.locals.number, known), redis), purse)

    # --- clients -------------------------------------------------------------------------------------

    def must_listen(self, each):
        return each.phase == "wait" and not each.stopped and each.hears < (2 if each.place == 1 else 1)

    def actions(self, state):
        """(name, client...) of all that can happen."""
        known, purse = self.known(state), state.purse
        for i, each in enumerate(known):
            for number in range(len(each.strays)):
                if number == 0 or each.strays[number] != each.strays[number - 1]:
                    yield ("arrives", i, number)
            if each.phase in ("dead", "gone"):
                continue
            if each.stopped:
                yield ("continued", i)
                continue
            if self.must_listen(each):
                yield ("listens", i)
            for what in self.sends(i, each, known) if each.steps else ():
                yield ("sends", i, what)
                if purse.faults:
                    yield ("reply lost", i, what)
                    if "late" in self.kinds_of_faults:
                        yield ("request late", i, what)
            if each.phase == "ask" and each.asked.what == "give":
                yield ("abandons", i)
            if purse.faults and each.phase != "idle":
                for name in ("dies", "stopped", "cut") if each.hears else ("dies", "stopped"):
                    if name in self.kinds_of_faults:
                        yield (name, i)
        if purse.faults:
            yield from ((name,) for name in CLOCK if name in self.kinds_of_faults)
        if purse.times:
            for ms in self.steps_of_time(state, known):
                yield ("later", ms)

    def sends(self, i, each, known):
        """What it may ask the server."""
        role = self.roles[i]
        if each.phase == "idle":
            outer = known[role.inner] if role.inner is not None else None
            if outer is None or (outer.phase == "hold" and outer.left > 0):
                yield "take"
        elif each.phase == "wait" and not self.must_listen(each):
            if each.due <= 0:
                yield "take"
            yield "give"
        elif each.phase == "hold":
            if each.left > 0 and script(role, "renew"):
                yield "renew"
            yield "give"
        elif each.phase == "ask":
            yield each.asked.what
            if each.asked.what != "give":
                yield "give"

    def steps_of_time(self, state, known):
        """After how many ms something changes: nobody who is to try, and can, waits longer."""
        awake = [each for each in known if not each.stopped and each.phase in ("wait", "ask")]
        if any(self.must_listen(each) for each in awake):
            return []
        most = min((each.due for each in awake), default=None)
        if most is not None and most <= 0:
            return []
        changes = {each.left for each in known if each.left > 0}
        for part in self.redis(state):
            for name, sort, _, _, _, value in part:
                if not sort and value > 0 and "tombstone" not in name:
                    changes.add(value)
                elif sort and value and value[0] == "ms" and value[1] > 0 and "timeout:{" not in name:
                    changes.add(int(value[1]) + 1)
        soonest = sorted(each for each in changes if each <= (SOON if most is None else most))[:1]
        return soonest + ([most] if most is not None and most not in soonest else [])

    def request(self, i, each, what, known):
        role = self.roles[i]
        if each.asked is not None and each.asked.what == what:  # again, as it was
            return each.asked, each
        number, unsure, astray, proof = each.number, each.unsure, each.astray, each.proof
        if what == "take":
            if each.phase == "idle":
                if unsure:
                    number, unsure = number + 1, False
                proof = known[role.inner].token if role.inner is not None else None
                each = each._replace(place=0, ticket=None)
            line = role.waits and (role.kind == "fair" or each.hears > 0)
            made = Request("take", number, False, line, each.place, each.ticket, proof)
        elif what == "renew":
            made = Request("renew", number, under=each.under)
        else:
            if each.asked is not None:
                unsure = True
                astray = astray or each.asked.what == "take"
            unsure = unsure or astray
            under = each.under if each.phase == "hold" or each.left > 0 else role.inner is not None
            made = Request("give", number, astray, under=under,
                           waits=role.priority != 0 and each.phase != "hold")
        return made, each._replace(number=number, unsure=unsure, astray=astray, proof=proof, asked=None)

    # --- what happens --------------------------------------------------------------------------------

    def follow(self, state, action):
        """The state after it. Raises Broken."""
        name, *rest = action
        known, redis, purse = self.known(state), state.redis, state.purse
        if name == "later":
            return self.pass_time(redis, known, purse, rest[0])
        if name in CLOCK:
            ms, mark = CLOCK[name]
            return self.canonical(self.later(redis, ms), [moved(each, ms) for each in known],
                                  purse._replace(faults=purse.faults - 1, mark=purse.mark | mark))
        i = rest[0]
        each = known[i]
        if name == "arrives":
            stray = each.strays[rest[1]]
            known[i] = each._replace(strays=each.strays[:rest[1]] + each.strays[rest[1] + 1:])
            redis, answer = self.deliver(redis, known, i, stray)
            if stray.what == "take" and answer[0] == GRANTED:
                purse = purse._replace(mark=purse.mark | promises.UNAWARE)
        elif name == "listens":
            known[i] = each._replace(hears=2 if each.place == 1 else 1, due=0)
        elif name == "continued":
            known[i] = each._replace(stopped=False)
        elif name == "abandons":
            known[i] = each._replace(phase="gone", asked=None, clean=False, hears=0)
            purse = purse._replace(mark=purse.mark | promises.TROUBLE)
        elif name in ("dies", "stopped", "cut"):
            purse = purse._replace(faults=purse.faults - 1, mark=purse.mark | promises.TROUBLE)
            if name == "dies":
                known[i] = Local(phase="dead", strays=each.strays, clean=False)
            elif name == "cut":
                known[i] = each._replace(hears=0, sure=False)
            else:
                known[i] = each._replace(stopped=True, sure=False)
        else:
            redis, purse = self.send(redis, known, purse, name, i, rest[1])
        return self.canonical(redis, known, purse)

    def send(self, redis, known, purse, name, i, what):
        request, each = self.request(i, known[i], what, known)
        each = each._replace(steps=each.steps - 1, sure=each.sure and name == "sends")
        known[i] = each
        if name == "sends":
            known[i] = each._replace(asked=None)
            redis, answer = self.deliver(redis, known, i, request)
            known[i] = self.answered(known[i], i, request, answer, purse, known)
            return redis, purse
        again = each.phase == "ask"
        due = min(each.due, PROMPT) if each.phase == "wait" and each.hears else PROMPT
        known[i] = each._replace(phase="ask", asked=request, unsure=True, due=each.due if again else due, clean=False,
                                 astray=each.astray or request.what == "take",
                                 left=each.left if request.what == "renew" else 0)
        if name == "reply lost":
            redis, _ = self.deliver(redis, known, i, request)
        else:
            known[i] = known[i]._replace(strays=tuple(sorted(each.strays + (request,), key=str)))
        return redis, purse._replace(faults=purse.faults - 1)

    def deliver(self, redis, known, i, request):
        """Changes known: who was told something, and tokens, which are relative to the last."""
        before = redis
        redis, answer, messages, grown = self.run(redis, known, i, request)
        promises.check_tokens(self.parts.values[before[i + 1]], request, answer, grown)
        if request.what == "take" and answer[0] == GRANTED:
            promises.check_turn(self, before, known, i)
        for j, each in enumerate(known):
            if grown:
                known[j] = each = moved(each, grown=grown)
            for to, text in messages:
                known[j] = each = told(each, to == j, to is None, text)
        return redis, [answer[0], answer[1] - keys.LAST_TOKEN - grown if answer[0] in (GRANTED, REENTERED)
                       and request.what == "take" else answer[1], *answer[2:]]

    def answered(self, each, i, request, answer, purse, known):
        role, code = self.roles[i], answer[0]
        must(code != OVER, "a try that nobody gave back is over")
        if request.what in GOOD and each.left > 0 and not purse.mark & promises.SET_FORTH:
            must(code in GOOD[request.what], f"to {request.what} it was told {code}, {each.left} ms before the lease's end")
        if request.what == "renew":
            return each._replace(phase="hold", left=role.lease if code == KEPT else 0)
        if request.what == "give":
            lost = each.phase == "hold" and each.left == 0
            return Local(phase="idle" if each.steps and not lost else "gone", strays=each.strays, steps=each.steps,
                         number=each.number, unsure=each.unsure, clean=True)
        if code in (GRANTED, REENTERED):
            must(code == GRANTED or request.proof is not None, "re-entered without a proof")
            return each._replace(phase="hold", left=role.lease if script(role, "renew") else promises.FOR_EVER,
                                 token=answer[1], under=code == REENTERED, due=0, hears=0, ticket=None, place=0,
                                 sure=False, clean=False)
        if code in (REFUSED, OUSTED):
            must(role.inner is not None or role.variant or role.total, f"refused: {answer}")
            return each._replace(phase="ask", asked=None)._replace(**self.leaving(each, i, known))
        must(code == BUSY, f"the answer {answer}")
        if not role.waits:
            if each.astray:
                return each._replace(**self.leaving(each, i, known))
            return each._replace(phase="idle" if each.steps else "gone", asked=None, clean=True)
        place = min(answer[2], 2)
        due = min(answer[11] or 5000, answer[1] + 1 if place <= 1 and answer[1] >= 0 else 5000)
        return each._replace(phase="wait", asked=None, due=due, place=place, clean=False,
                             sure=request.line and each.hears > 0,
                             ticket=answer[12] - keys.MS if request.line else each.ticket)

    def leaving(self, each, i, known):
        """It gives up: a request to give back is what it sends next."""
        request, after = self.request(i, each._replace(phase="wait", asked=None), "give", known)
        return {**after._asdict(), "phase": "ask", "asked": request, "due": 0}

    def pass_time(self, redis, known, purse, ms):
        if any(0 < each.left <= ms for each in known):
            purse = purse._replace(mark=purse.mark | promises.RUN_OUT)
        known = [later(each, ms) for each in known]
        return self.canonical(self.later(redis, ms), known, purse._replace(times=purse.times - 1))
