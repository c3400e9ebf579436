"""The one token of a hold on three servers, in all states.

The scripts are real; one redis-server plays all three in turn, for each keeps a state of its own. The client's rule
is written down here again, from lib/lock/take.c, token.c, release.c and resource.c: it is not the library
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
from stage import Purse, Stage, Table

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


class Column(NamedTuple):
    """A server, and what each client knows of it."""
    counter: int  # the last token
    redis: tuple
    there: tuple


class State(NamedTuple):
    clients: tuple
    columns: tuple
    purse: Purse
    tokens: tuple = ()  # of all who have held it


class Quorum(Stage):
    def __init__(self, server, folder, kinds, turns, faults, times, broken=None):
        super().__init__(server, folder, [Role(kind, waits=False) for kind in kinds], broken)
        self.numbered = Table()
        there = (There(),) * len(kinds)
        self.first = self.ordered([Client(turns=turns)] * len(kinds), [Column(0, self.empty, there)] * SERVERS,
                                  Purse(faults, times), ())

    def ordered(self, clients, columns, purse, tokens):
        """Servers that could change places, and clients, are put in an order."""
        number = self.numbered.number
        clients = [number(each) for each in clients]
        columns = [(each.counter, each.redis, [number(there) for there in each.there]) for each in columns]
        best = None
        for order in itertools.product(*(itertools.permutations(alike) for alike in self.classes)):
            at = [0] * len(clients)
            for alike, there in zip(self.classes, order):
                for to, i in zip(alike, there):
                    at[to] = i
            turned = tuple(clients[i] for i in at), tuple(sorted(
                (counter, (redis[0], *(redis[i + 1] for i in at)), tuple(there[i] for i in at))
                for counter, redis, there in columns))
            if best is None or turned < best:
                best = turned
        return State(*best, purse, tokens)

    def opened(self, state):
        """With values in place of their numbers."""
        values = self.numbered.values
        columns = tuple(Column(counter, redis, tuple(values[each] for each in there))
                        for counter, redis, there in state.columns)
        return state._replace(clients=tuple(values[each] for each in state.clients), columns=columns)

    # --- what can happen -----------------------------------------------------------------------------

    def actions(self, state):
        state = self.opened(state)
        for i, client in enumerate(state.clients):
            if client.phase == "idle" and client.turns:
                yield ("takes", i)
            elif client.phase == "holds":
                yield ("gives", i)
            elif client.phase in ("takes", "agrees", "gives") and self.is_decided(state, i):
                yield ("goes on", i)
            for s, column in enumerate(state.columns):
                there = column.there[i]
                for number in range(len(there.strays)):
                    yield ("arrives late", i, s, number)
                if there.sent:
                    yield ("arrives", i, s)
                if there.sent and state.purse.faults:
                    yield ("reply lost", i, s)
                    yield ("connection lost", i, s)
        if state.purse.times:
            yield ("leases end",)

    def votes(self, state, i):
        return [column.there[i].vote for column in state.columns]

    def enough(self, state, i):
        phase = state.clients[i].phase
        if phase == "agrees":
            return MAJORITY - self.know_before(state, i)
        if phase == "gives":
            return sum(vote != "" for vote in self.votes(state, i)) // 2 + 1
        return MAJORITY

    def know_before(self, state, i):
        """How many had given the token that it wants before this ballot."""
        return sum(column.there[i].held and column.there[i].token == state.clients[i].token
                   and column.there[i].vote == "" for column in state.columns)

    def is_decided(self, state, i):
        votes = self.votes(state, i)
        asked, enough = sum(vote != "" for vote in votes), self.enough(state, i)
        yes, no = votes.count("yes"), votes.count("no") + votes.count("none")
        return yes >= enough or no + enough > asked or "asked" not in votes

    def follow(self, state, action):
        state = self.opened(state)
        name, *rest = action
        clients, columns, purse, tokens = list(state.clients), list(state.columns), state.purse, state.tokens
        if name == "leases end":
            columns = [each._replace(redis=self.later(each.redis, LEASE + 1)) for each in columns]
            clients = [each._replace(phase="gives" if each.phase == "holds" else each.phase) for each in clients]
            late = [i for i, each in enumerate(state.clients) if each.phase in ("holds", "takes", "agrees")]
            for i in late:  # it was too long: given back
                self.give(clients, columns, i)
            return self.ordered(clients, columns, purse._replace(times=purse.times - 1), tokens)
        i = rest[0]
        if name == "takes":
            self.take(clients, columns, i, max(tokens, default=0))
        elif name == "gives":
            self.give(clients, columns, i)
        elif name == "goes on":
            tokens = self.go_on(state, clients, columns, i)
        else:
            s = rest[1]
            if name in ("reply lost", "connection lost"):
                purse = purse._replace(faults=purse.faults - 1)
            self.deliver_there(columns, i, s, name, rest[2] if len(rest) > 2 else 0)
        return self.ordered(clients, columns, purse, tokens)

    # --- the client ----------------------------------------------------------------------------------

    def ask(self, columns, i, s, request, **more):
        there = columns[s].there[i]
        sent = tuple((each, False) for each, _ in there.sent) + ((request, True),)
        self.note(columns, i, s, there._replace(vote="asked", known=0, sent=sent, **more))

    def note(self, columns, i, s, there):
        column = columns[s]
        columns[s] = column._replace(there=column.there[:i] + (there,) + column.there[i + 1:])

    def ask_nobody(self, columns, i):
        """A new ballot: no answer of the last one counts."""
        for s, column in enumerate(columns):
            there = column.there[i]
            self.note(columns, i, s, there._replace(vote="", sent=tuple((each, False) for each, _ in there.sent)))

    def take(self, clients, columns, i, floor):
        clients[i] = clients[i]._replace(phase="takes", turns=clients[i].turns - 1, floor=floor, token=0, round=0)
        self.ask_nobody(columns, i)
        for s, column in enumerate(columns):
            there = column.there[i]
            number = there.number + there.given_up
            self.ask(columns, i, s, Request("take", number), number=number, given_up=False)

    def give(self, clients, columns, i):
        clients[i] = clients[i]._replace(phase="gives")
        unanswered = [column.there[i].vote == "asked" for column in columns]
        self.ask_nobody(columns, i)
        for s, column in enumerate(columns):
            there = column.there[i]
            if there.held or there.doubt or unanswered[s]:
                self.ask(columns, i, s, Request("give", there.number, there.astray), doubt=True)

    def propose(self, clients, columns, i, tokens):
        """Asks those that have given another token, and holds it where nobody need be asked. Returns all tokens."""
        token = clients[i].token
        self.ask_nobody(columns, i)
        held = [(s, column.there[i]) for s, column in enumerate(columns) if column.there[i].held]
        if sum(there.token == token for _, there in held) >= MAJORITY:
            return self.hold(clients, columns, i, tokens)
        for s, there in held:
            if there.token != token:
                self.ask(columns, i, s, Request("raise", there.number, proof=token))
        clients[i] = clients[i]._replace(phase="agrees", round=clients[i].round + 1)
        return tokens

    def go_on(self, state, clients, columns, i):
        client, tokens = clients[i], state.tokens
        votes = self.votes(state, i)
        there = [column.there[i] for column in columns]
        if client.phase == "gives":
            for s, each in enumerate(there):
                if each.vote in ("asked", "none"):
                    self.note(columns, i, s, each._replace(given_up=True, astray=True))
            self.ask_nobody(columns, i)
            clients[i] = client._replace(phase="idle" if client.turns else "gone", token=0, floor=0, round=0)
        elif client.phase == "takes":
            for s, each in enumerate(there):
                if each.vote in ("asked", "none"):
                    self.note(columns, i, s, each._replace(doubt=True, astray=each.astray or each.vote == "none"))
            if votes.count("yes") < MAJORITY:
                self.give(clients, columns, i)
            else:
                clients[i] = client._replace(token=max(each.token for each in there if each.held))
                tokens = self.propose(clients, columns, i, tokens)
        else:
            known = max((each.known for each in there if each.vote == "no"), default=0)
            if self.know_before(state, i) + votes.count("yes") >= MAJORITY:
                tokens = self.hold(clients, columns, i, tokens)
            elif known == 0 or client.round >= ROUNDS:
                self.give(clients, columns, i)
            else:
                clients[i] = client._replace(token=known + 1)
                tokens = self.propose(clients, columns, i, tokens)
        return tokens

    def hold(self, clients, columns, i, tokens):
        client = clients[i]
        must(client.token not in tokens, f"{i} gets the token {client.token}, which another one had")
        must(client.token > client.floor, f"{i} gets the token {client.token}, and came after {client.floor}")
        kinds = [self.roles[j].kind for j, each in enumerate(clients) if each.phase == "holds"] + [self.roles[i].kind]
        must(len(kinds) == 1 or set(kinds) == {"read"}, f"{kinds} hold it at the same time")
        if kinds[-1] != "read":
            last = max(tokens, default=0)
            must(client.token > last, f"{i} gets the token {client.token} after {last}")
        clients[i] = client._replace(phase="holds", floor=0, round=0)
        self.ask_nobody(columns, i)
        return tuple(sorted(tokens + (client.token,)))

    # --- a server ------------------------------------------------------------------------------------

    def deliver_there(self, columns, i, s, name, number):
        there = columns[s].there[i]
        if name == "connection lost":
            astray = there.astray or any(request.what == "take" for request, _ in there.sent)
            self.note(columns, i, s, there._replace(
                sent=(), strays=there.strays + tuple(request for request, _ in there.sent), astray=astray,
                vote="none" if there.sent[-1][1] else there.vote))
            return
        if name == "arrives late":
            request, awaited = there.strays[number], False
            self.note(columns, i, s, there._replace(strays=there.strays[:number] + there.strays[number + 1:]))
        else:
            request, awaited = there.sent[0]
            self.note(columns, i, s, there._replace(sent=there.sent[1:]))
        counter = columns[s].counter
        if request.what == "raise":
            request = request._replace(proof=request.proof - counter)
        redis, answer, _, grown = self.run(columns[s].redis, (), i, request)
        columns[s] = columns[s]._replace(redis=redis, counter=counter + grown)
        there = columns[s].there[i]
        if name == "reply lost":
            rest = tuple(each for each, _ in there.sent)
            lost = awaited or any(each for _, each in there.sent)
            self.note(columns, i, s, there._replace(
                sent=(), strays=there.strays + rest, vote="none" if lost else there.vote,
                astray=there.astray or request.what == "take"))
        elif awaited:
            self.note(columns, i, s, self.judged(there, request, answer[0], answer[1] - keys.LAST_TOKEN + counter))

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
        state = self.model.opened(state)
        lines = [f"  client {i}: {each}" for i, each in enumerate(state.clients)]
        for s, column in enumerate(state.columns):
            lines += [f"  server {s}, token {column.counter}, to client {i}: {each}"
                      for i, each in enumerate(column.there)]
        return lines

    def line(self, state, action):
        return f"[{', '.join(each.phase for each in self.model.opened(state).clients)}] {' '.join(map(str, action))}"
