"""What scripts do to what Redis keeps: asked of the real server once, and remembered."""
from typing import NamedTuple

import keys
from promises import must
from roles import arguments, channel, script


class Unknown(Exception):
    """What a script does to a state: the question is in args."""


class Purse(NamedTuple):
    """What may still happen besides what clients do."""
    faults: int = 0
    times: int = 0  # time passes
    mark: int = 0  # promises.TROUBLE..., of what has happened


class Table:
    """Values by number, and numbers by value."""

    def __init__(self):
        self.values, self.numbers = [], {}

    def number(self, value):
        found = self.numbers.get(value)
        if found is None:
            found = self.numbers[value] = len(self.values)
            self.values.append(value)
        return found


class Stage:
    """One lock's scripts, and what Redis has: a tuple of the numbers of its parts, see keys.py."""

    def __init__(self, server, folder, roles, broken=None, limit=41):
        """broken: {script: [(text in it, what stands there instead)]}; limit: commands of one script."""
        self.server, self.folder, self.roles = server, folder, roles
        self.broken, self.limit = broken or {}, limit
        self.parts, self.locals, self.answers, self.moved, self.hashes, self.most = Table(), Table(), {}, {}, {}, 0
        self.empty = (self.parts.number(()),) * (len(roles) + 1)
        self.classes = self.alike()
        everybody, name = range(2 ** len(roles)), channel(roles[0])
        server.listen([f"{mask:x}.{name}" for mask in everybody]
                      + [f"{mask:x}.{name}:{keys.owner(i)}" for mask in everybody for i in range(len(roles))
                         if mask >> i & 1])

    def alike(self):
        """Those of one role, which may change places: lists of their numbers."""
        outer = {role.inner for role in self.roles} - {None}
        classes = {}
        for i, role in enumerate(self.roles):
            alone = i in outer or role.inner is not None
            classes.setdefault((role, i if alone else None), []).append(i)
        return list(classes.values())

    def in_order(self, numbers, redis):
        """The numbers of what clients know, and of what Redis has: those that could change places are sorted."""
        numbers, redis = list(numbers), list(redis)
        for alike in self.classes:
            ordered = sorted((numbers[i], redis[i + 1]) for i in alike)
            for i, (number, part) in zip(alike, ordered):
                numbers[i], redis[i + 1] = number, part
        return tuple(redis), tuple(numbers)

    def known(self, state):
        return [self.locals.values[number] for number in state.locals]

    def redis(self, state):
        return [self.parts.values[number] for number in state.redis]

    def later(self, redis, ms):
        """What Redis has so many ms later."""
        found = self.moved.get((redis, ms))
        if found is None:
            moved = keys.later(tuple(self.parts.values[number] for number in redis), ms)
            found = self.moved[redis, ms] = tuple(self.parts.number(part) for part in moved)
        return found

    # --- the server ----------------------------------------------------------------------------------

    def hash_of(self, name):
        if name not in self.hashes:
            with open(f"{self.folder}/{name}.lua", encoding="latin-1") as file:
                text = file.read()
            for old, new in self.broken.get(name, ()):
                if old not in text:
                    raise SystemExit(f"{name}.lua does not have the line that this control breaks: {old}")
                text = text.replace(old, new)
            self.hashes[name] = self.server.load(text)
        return self.hashes[name]

    def run(self, redis, known, i, request):
        """A script. Returns what Redis has then, the answer, messages as (client, None: all; text), and by how
        much the last token has grown. Raises Unknown: the server is to be asked first."""
        hears = sum(1 << j for j, each in enumerate(known) if each.hears)
        found = self.answers.get((redis, i, request, hears))
        if found is None:
            raise Unknown(redis, i, request, hears)
        commands = found[4]
        must(commands <= self.limit, f"{script(self.roles[i], request.what)} ran {commands} commands")
        return found[:4]

    def learn(self, questions):
        """What Unknown has said, all at once."""
        words = [(keys.words([self.parts.values[number] for number in redis]),
                  self.hash_of(script(self.roles[i], request.what)), arguments(self.roles[i], i, request, hears))
                 for redis, i, request, hears in questions]
        for question, (answer, said, seen, commands) in zip(questions, self.server.run(words)):
            role = self.roles[question[1]]
            after, last = keys.parse(seen, len(self.roles))
            self.most = max(self.most, commands)
            to = {f"{channel(role)}:{keys.owner(j)}": j for j in range(len(self.roles))}
            messages = tuple((to.get(where.split(".", 1)[1]), text) for where, text in said)
            self.answers[question] = (tuple(self.parts.number(part) for part in after), answer, messages,
                                      last - keys.LAST_TOKEN, commands)
