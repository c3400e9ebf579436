"""Every order in which the network can deliver one client's requests, beside another client: late, twice, never.

One client, P, follows the library's rules: a request without an answer is sent again; what may have been
taken is given back; a try has a number, which grows when something of the last one may still arrive; who
gives back says whether a request to take it was never answered. Another, Q, takes and gives back at will.
States that are the same but for times and tokens are gone on from once. After each step: the client that was told
that it holds does hold, not both, no token comes twice. In the end, when P has left and all that was under way has
arrived, nothing of P is there.
"""
from collections import deque

from client import BUSY, GRANTED, KEPT, Lock, Server

P, Q = (f"{digit * 8}-2222-4333-8444-555555555555:{digit}@host" for digit in "12")
ID = {P: "a" * 32, Q: "b" * 32}
SHARED = {"read": "write", "write": "read"}  # what Q takes to be in P's way
TWICE = 2


class World:
    """One order of events, carried out on an empty server."""

    def __init__(self, server, kind, waits):
        self.server = server
        server("FLUSHALL")
        self.mine, self.others = Lock(server, kind), Lock(server, SHARED.get(kind, kind))
        self.total = "1" if kind in ("sem", "plain") else ""
        self.waits = waits
        self.state, self.number, self.astray, self.unsure = "idle", 1, False, False
        self.asked = None  # the request whose answer P waits for
        self.under_way = []  # [what, number, astray, deliveries left]
        self.q_holds, self.tokens = False, []

    # --- what P does ------------------------------------------------------------------------------

    def choices(self):
        yield from (("deliver", i) for i, each in enumerate(self.under_way) if each[3] > 0)
        if self.state in ("idle", "wants"):
            yield ("take",)
        if self.state in ("wants", "holds", "leaving"):
            yield ("give",)
        if self.state == "leaving" and self.asked is not None:
            yield ("abandon",)
        yield ("q_gives",) if self.q_holds else ("q_takes",)
        if self.state == "holds" or self.q_holds:
            yield ("expire",)

    def send(self, what, astray=False):
        if self.asked is not None:
            self.unsure = True
            self.astray = self.astray or self.asked[0] == "take"
        self.asked = [what, self.number, astray or self.astray, TWICE]
        self.under_way.append(self.asked)

    def take(self):
        if self.state == "idle" and self.unsure:
            self.number, self.unsure = self.number + 1, False
        self.state = "wants"
        self.send("take")

    def give(self):
        if self.asked is not None and self.asked[0] == "take":
            self.astray, self.asked = True, None
        self.unsure = self.unsure or self.astray
        self.state = "leaving"
        self.send("give")

    def abandon(self):
        """P goes on without the answer to its give-back, as after half a second."""
        self.unsure, self.asked, self.state = True, None, "idle"

    # --- what the network and Q do ----------------------------------------------------------------

    def deliver(self, i):
        request = self.under_way[i]
        what, number, astray, _ = request
        request[3] -= 1
        attempt = f"{ID[P]}.{number}"
        if what == "take":
            answer = self.mine.take(P, attempt, total=self.total, wait=self.waits)
        else:
            answer = self.mine.run(self.mine.give_script, P, 30000, attempt, 1, "", 0, P, int(astray),
                                   record=self.mine.kind in ("run", "fair"))
        if request is not self.asked:
            return
        self.asked = None
        request[3] = 0  # an answered request was one packet, and has arrived
        if what == "give":
            self.state, self.astray = "idle", False
        elif answer[0] == GRANTED:
            self.state = "holds"
            self.grant(answer[1])
        else:
            assert answer[0] == BUSY, answer

    def q_takes(self):
        answer = self.others.take(Q, ID[Q], total=self.total, wait=False)
        if answer[0] == GRANTED:
            assert self.state != "holds", "both hold it"
            self.q_holds = True
            self.grant(answer[1])

    def q_gives(self):
        assert self.others.give(Q, ID[Q])[0] > 0, "Q has lost its hold"
        self.q_holds = False

    def expire(self):
        """Nobody has renewed: both know that they hold it no more. A plain permit has no lease."""
        if self.mine.renew_script:
            self.server.let_pass(30001)
            self.state = "wants" if self.state == "holds" else self.state
            self.q_holds = False

    def grant(self, token):
        if token not in self.tokens:
            assert not self.tokens or token > self.tokens[-1], ("tokens", self.tokens, token)
            self.tokens.append(token)

    # --- what must be so --------------------------------------------------------------------------

    def check(self):
        assert not (self.state == "holds" and self.q_holds), "both hold it"
        if self.state == "holds" and self.mine.renew_script:
            assert self.mine.renew(P, ID[P])[0] == KEPT, "P has lost its hold"

    def state_of_all(self):
        """What decides what can come: no times, no tokens."""
        seen = tuple(sorted(
            (key, sorted(value) if isinstance(value, (dict, list)) else None if "token" in key else value,
             value.get("over") if isinstance(value, dict) else None)
            for key, (value, _) in self.server.see().items()))
        asked = self.under_way.index(self.asked) if self.asked else None
        return repr((self.state, self.number, self.astray, self.unsure, asked, self.under_way,
                     self.q_holds, seen))

    def end(self):
        """P leaves, and is answered; then all the rest arrives."""
        if self.state != "idle":
            self.give()
            self.deliver(len(self.under_way) - 1)
        for i, request in enumerate(self.under_way):
            while request[3] > 0:
                self.deliver(i)
        if self.q_holds:
            self.q_gives()
        if self.mine.kind == "sem":  # what has expired comes back with the next one
            self.others.take(Q, "c" * 32, total=self.total, wait=False)
            self.others.give(Q, "c" * 32)
        left = {key for key in self.server.keys() if not key.startswith("rlock_tombstone:")}
        if self.total:
            left.discard("x")
            assert self.server("GET", "x") in (None, "1"), f"permits: {self.server('GET', 'x')}"
        assert not left, f"left behind: {self.server.see()}"


def follow(server, kind, waits, path):
    """Carries out one path. Returns its world, before the end."""
    world = World(server, kind, waits)
    for step in path:
        getattr(world, step[0])(*step[1:])
        world.check()
    return world


def explore(kind, path, depth):
    """All paths of so many steps. Returns how many states there were."""
    server, count = Server(path), 0
    for waits in (False, True):
        paths, known = deque([()]), set()
        while paths:
            steps = paths.popleft()
            try:
                world = follow(server, kind, waits, steps)
                state = world.state_of_all()
                if state in known:
                    continue
                known.add(state)
                if len(steps) < depth:
                    paths += [steps + (choice,) for choice in world.choices()]
                world.end()
            except AssertionError as error:
                raise AssertionError(f"{kind}, waits: {waits}: {steps}: {error}") from error
        count += len(known)
    server.close()
    return count
