"""The one token of a hold on three servers, in all states.

The scripts are real; one redis-server plays all three in turn, for each keeps a state of its own. The client's rule
is written down here again, from lib/lock/take.c, release.c and resource.c: it is not the library
that runs. Clients do not wait in line, and do not renew.

A client asks all servers and goes on as soon as the answers decide: what is still on its way to the others arrives
later, in its order. A connection may break: what was on it arrives at any time, or the answer is lost.
"""
import itertools
from typing import NamedTuple

import keys
from client import BUSY, GRANTED
from promises import must
from roles import LEASE, Request, Role
from search import Search
from stage import Purse, Stage

SERVERS, MAJORITY, ROUNDS = 3, 2, 2  # the library goes on for 8 rounds


class There(NamedTuple):
    """What a client knows of one server."""
    held: bool = False
    token: int = 0
    doubt: bool = False
    astray: bool = False
    number: int = 1
    given_up: bool = False  # a release has had no answer: the next try has a number more
    vote: str = ""  # of what it has asked last: asked, yes, no, none; "": it was not asked
    known: int = 0  # the token in the way, of a "no"
    sent: tuple = ()  # (Request, it waits for the answer), in the order of the connection
    strays: tuple = ()  # of connections that are gone


class Client(NamedTuple):
    phase: str = "idle"  # takes, agrees, holds, gives; gone
    turns: int = 0  # so often it may still try
    token: int = 0
    floor: int = 0  # the largest token of a holder when it began
    round: int = 0


class State(NamedTuple):
    """With numbers in place of values."""
    clients: tuple
    servers: tuple  # of each the last token, what Redis has, and what each client knows of it
    purse: Purse
    tokens: tuple = ()  # of all who have held it


class Moment:
    """A state by its values, which change. there: what each client knows of each server."""

    def __init__(self, state, values):
        self.clients, self.purse, self.tokens = [values[each] for each in state.clients], state.purse, state.tokens
        self.counters, self.redis, there = map(list, zip(*state.servers))
        self.there = [[values[each] for each in known] for known in zip(*there)]


class Quorum(Stage):
    def __init__(self, server, folder, kinds, turns, faults, times, broken=None):
        super().__init__(server, folder, [Role(kind, waits=False) for kind in kinds], broken)
        number = len(kinds)
        self.orders = [at for at in itertools.permutations(range(number))
                       if all(kinds[i] == kinds[j] for i, j in enumerate(at))]
        client, there = self.locals.number(Client(turns=turns)), self.locals.number(There())
        self.first = State((client,) * number, ((0, self.empty, (there,) * number),) * SERVERS, Purse(faults, times))

    def opened(self, state):
        return Moment(state, self.locals.values)

    def ordered(self, now):
        """Servers that could change places, and clients, are put in an order."""
        number = self.locals.number
        clients = [number(each) for each in now.clients]
        servers = [(counter, redis, [number(each) for each in there])
                   for counter, redis, there in zip(now.counters, now.redis, zip(*now.there))]
        best = min((tuple(clients[i] for i in at), tuple(sorted(
            (counter, (redis[0], *(redis[i + 1] for i in at)), tuple(there[i] for i in at))
            for counter, redis, there in servers))) for at in self.orders)
        return State(*best, now.purse, now.tokens)

    # --- what can happen -----------------------------------------------------------------------------

    def actions(self, state):
        now = self.opened(state)
        for i, (client, there) in enumerate(zip(now.clients, now.there)):
            if client.phase == "idle" and client.turns:
                yield ("takes", i)
            elif client.phase == "holds":
                yield ("gives", i)
            elif client.phase in ("takes", "agrees", "gives") and self.is_decided(client, there):
                yield ("goes on", i)
            for s, each in enumerate(there):
                for number in range(len(each.strays)):
                    yield ("arrives late", i, s, number)
                if each.sent:
                    yield ("arrives", i, s)
                if each.sent and now.purse.faults:
                    yield ("reply lost", i, s)
                    yield ("connection lost", i, s)
        if now.purse.times:
            yield ("leases end",)

    @staticmethod
    def know_before(client, there):
        """How many had given the token that it wants before this ballot."""
        return sum(each.held and each.token == client.token and each.vote == "" for each in there)

    def is_decided(self, client, there):
        votes = [each.vote for each in there]
        asked, enough = sum(vote != "" for vote in votes), MAJORITY
        if client.phase == "agrees":
            enough -= self.know_before(client, there)
        elif client.phase == "gives":
            enough = asked // 2 + 1
        yes, no = votes.count("yes"), votes.count("no") + votes.count("none")
        return yes >= enough or no + enough > asked or "asked" not in votes

    def follow(self, state, action):
        name, *rest = action
        now = self.opened(state)
        if name == "leases end":
            now.redis = [self.later(each, LEASE + 1) for each in now.redis]
            now.purse = now.purse._replace(times=now.purse.times - 1)
            for i, each in enumerate(now.clients):
                if each.phase in ("holds", "takes", "agrees"):  # it was too long: given back
                    self.give(now, i)
        elif name in ("takes", "gives", "goes on"):
            {"takes": self.take, "gives": self.give, "goes on": self.go_on}[name](now, *rest)
        else:
            self.deliver_there(now, name, *rest)
        return self.ordered(now)

    # --- the client ----------------------------------------------------------------------------------

    @staticmethod
    def ask(there, s, request, **more):
        sent = tuple((each, False) for each, _ in there[s].sent) + ((request, True),)
        there[s] = there[s]._replace(vote="asked", known=0, sent=sent, **more)

    @staticmethod
    def ask_nobody(there):
        """A new ballot: no answer of the last one counts."""
        there[:] = [each._replace(vote="", sent=tuple((request, False) for request, _ in each.sent)) for each in there]

    def take(self, now, i):
        client, there = now.clients[i], now.there[i]
        now.clients[i] = client._replace(phase="takes", turns=client.turns - 1, floor=max(now.tokens, default=0))
        self.ask_nobody(there)
        for s, each in enumerate(there):
            number = each.number + each.given_up
            self.ask(there, s, Request("take", number), number=number, given_up=False)

    def give(self, now, i):
        now.clients[i], there = now.clients[i]._replace(phase="gives"), now.there[i]
        unanswered = [each.vote == "asked" for each in there]
        self.ask_nobody(there)
        for s, each in enumerate(there):
            if each.held or each.doubt or unanswered[s]:
                self.ask(there, s, Request("give", each.number, each.astray), doubt=True)

    def propose(self, now, i, token):
        """Asks those that have given another token, and holds it where nobody need be asked."""
        there = now.there[i]
        now.clients[i] = now.clients[i]._replace(phase="agrees", token=token, round=now.clients[i].round + 1)
        self.ask_nobody(there)
        if self.know_before(now.clients[i], there) >= MAJORITY:
            self.hold(now, i)
            return
        for s, each in enumerate(there):
            if each.held and each.token != token:
                self.ask(there, s, Request("raise", each.number, proof=token))

    def go_on(self, now, i):
        client, there = now.clients[i], now.there[i]
        votes, known = [each.vote for each in there], max((each.known for each in there if each.vote == "no"), default=0)
        if client.phase == "gives":
            there[:] = [each._replace(given_up=True, astray=True) if each.vote in ("asked", "none") else each
                        for each in there]
            self.ask_nobody(there)
            now.clients[i] = client._replace(phase="idle" if client.turns else "gone", token=0, floor=0, round=0)
        elif client.phase == "takes":
            there[:] = [each._replace(doubt=True, astray=each.astray or each.vote == "none")
                        if each.vote in ("asked", "none") else each for each in there]
            if votes.count("yes") < MAJORITY:
                self.give(now, i)
            else:
                self.propose(now, i, max(each.token for each in there if each.held))
        elif self.know_before(client, there) + votes.count("yes") >= MAJORITY:
            self.hold(now, i)
        elif known == 0 or client.round >= ROUNDS:
            self.give(now, i)
        else:
            self.propose(now, i, known + 1)

    def hold(self, now, i):
        client = now.clients[i]
        must(client.token not in now.tokens, f"{i} gets the token {client.token}, which another one had")
        must(client.token > client.floor, f"{i} gets the token {client.token}, and came after {client.floor}")
        kinds = [self.roles[j].kind for j, each in enumerate(now.clients) if each.phase == "holds"] + [self.roles[i].kind]
        must(len(kinds) == 1 or set(kinds) == {"read"}, f"{kinds} hold it at the same time")
        if kinds[-1] != "read":
            last = max(now.tokens, default=0)
            must(client.token > last, f"{i} gets the token {client.token} after {last}")
        now.clients[i] = client._replace(phase="holds", floor=0, round=0)
        self.ask_nobody(now.there[i])
        now.tokens = tuple(sorted(now.tokens + (client.token,)))

    # --- a server ------------------------------------------------------------------------------------

    def deliver_there(self, now, name, i, s, number=0):
        each, counter = now.there[i][s], now.counters[s]
        if name == "arrives late":
            request, awaited = each.strays[number], False
            each = each._replace(strays=each.strays[:number] + each.strays[number + 1:])
        elif name == "arrives":
            request, awaited = each.sent[0]
            each = each._replace(sent=each.sent[1:])
        else:
            requests = [request for request, _ in each.sent]
            request, awaited = requests.pop(0) if name == "reply lost" else None, False
            astray = each.astray or any(sent.what == "take" for sent, _ in each.sent)
            each = each._replace(sent=(), strays=each.strays + tuple(requests), astray=astray,
                                 vote="none" if each.sent[-1][1] else each.vote)
            now.purse = now.purse._replace(faults=now.purse.faults - 1)
        if request:
            if request.what == "raise":
                request = request._replace(proof=request.proof - counter)
            now.redis[s], answer, _, grown = self.run(now.redis[s], (), i, request)
            now.counters[s] += grown
        if awaited:
            each = self.judged(each, request, answer[0], answer[1] - keys.LAST_TOKEN + counter)
        now.there[i][s] = each

    def judged(self, there, request, code, number):
        if request.what == "take":
            must(code in (GRANTED, BUSY), f"a request to take it was told {code}")
            granted = code == GRANTED
            return there._replace(vote="yes" if granted else "no", held=granted, doubt=False,
                                  token=number if granted else 0)
        if request.what == "raise":
            if code == GRANTED:
                return there._replace(vote="yes", token=number)
            return there._replace(vote="no", known=number)
        return There(number=there.number, given_up=there.given_up or there.astray, strays=there.strays, sent=there.sent,
                     vote="yes" if code > 0 else "no")


class SearchQuorum(Search):
    """Without the end: what is promised of tokens is promised of each moment."""

    def check(self, state):
        yield from ()

    def describe(self, state):
        now = self.model.opened(state)
        lines = [f"  client {i}: {each}" for i, each in enumerate(now.clients)]
        return lines + [f"  server {s}, token {counter}, to client {i}: {there[s]}"
                        for s, counter in enumerate(now.counters) for i, there in enumerate(now.there)]

    def line(self, state, action):
        return f"[{', '.join(each.phase for each in self.model.opened(state).clients)}] {' '.join(map(str, action))}"
