"""What users with few rights can do, and that nothing is changed when they lack one.

usage: python3 rights.py rules MANUAL KIND
       python3 rights.py exact MANUAL KIND SOCKET

rules   the rules that rlock-server(7), the file MANUAL, gives for a kind, a line each; also for "all",
        and what is needed in addition for "cluster://", "--replicas"...
exact   the examples (scripts) pass, if a user who has the rules of a kind runs the scripts of that kind; and without
        any command among them that user is refused by the server, which has changed nothing

KIND: as in the manual, "latch set". SCRIPTS in the environment: the folder of the scripts.
"""
import contextlib
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts"))

from bench import Bench  # noqa: E402
from client import Lock, Server, ServerError  # noqa: E402
from examples import EXAMPLES  # noqa: E402

# Other rights than a kind's are needed to put a hold back, to see one and to break it; the rest counts commands, ours too.
WITHOUT = re.compile(r"(crowd|inspect|kinds|readers|restore|sem)\.|priority\.(cost_|priority_lets_)|leases\.broken_")
# The kind by whose rules a script is run that is not its lock's.
KIND_OF = {"sem_acquire": "sem", "sem_release": "sem", "sem_resize": "sem --resize", "latch_set": "latch set", "latch_down": "latch down",
           "latch_acquire": "latch wait"}
# What rlock itself sends, and what scripts do without.
NOT_IN_SCRIPTS = {"+eval", "+evalsha", "+subscribe", "+publish"}
REFUSALS = ("NOPERM", "ERR The user executing the script can't", "ERR ACL failure in script")


def rules_for(manual, kind):
    """In the order of the manual, the user's name and password left out."""
    with open(manual, encoding="utf-8") as file:
        text = file.read().split(".Sh ACCESS CONTROL\n")[1].split("\n.Sh ")[0]
    for escape, character in ((r"\(aq", ""), (r"\(ti", "~"), (r"\-", "-"), (r"\&", "")):
        text = text.replace(escape, character)
    if kind == "all":
        block = text.split(".Bd -literal")[1].split(".Ed")[0]
        return [word for word in block.split() if word[0] in "~&+"]
    for item in text.split(".It ")[1:]:
        title, *lines = item.split(".El")[0].splitlines()
        names = re.sub(r"\b(Ar|Cm|Fl|Li) ", "", title.replace("Fl -", "Fl --")).split(" , ")
        if kind in names:
            return [word for line in lines for word in line.split() if word[0] in "~&+"]
    raise LookupError(f"no rules for {kind}")


class Refused(Exception):
    """By the server: its error, and what has changed."""


class UsersLock(Lock):
    """The scripts of one kind are run by its user, all others by who may do all."""

    def __init__(self, bench, kind):
        super().__init__(bench.server, kind)
        self.bench = bench

    def run(self, script, *words, **options):
        if KIND_OF.get(script, self.kind) != self.bench.kind:
            return super().run(script, *words, **options)
        before, self.server, self.bench.has_run = self.bench.server.see(), self.bench.user, True
        try:
            return super().run(script, *words, **options)
        except ServerError as error:
            if not str(error).startswith(REFUSALS):
                raise
            raise Refused(f"{script}: {error}", self.bench.changes(before)) from error
        finally:
            self.server = self.bench.server


class UsersBench(Bench):
    def __init__(self, path, kind, rules):
        super().__init__(path)
        self.kind, self.user, self.has_run = kind, Server(path), False
        self.user.hash_of = self.server.hash_of
        self.server("ACL", "SETUSER", "app", "reset", "on", ">secret", "&rlock_break:*",
                    *(rule.replace("app*", "x") for rule in rules))
        self.user("AUTH", "app", "secret")

    def lock(self, kind, name="x"):
        return UsersLock(self, kind) if name == "x" else super().lock(kind, name)

    def close(self):
        self.user.close()
        super().close()


def play(path, kind, rules, name):
    """Whether the user has run anything; a Refused may come."""
    with contextlib.closing(UsersBench(path, kind, rules)) as bench:
        EXAMPLES[name](bench)
        return bench.has_run


def exact(manual, kind, path):
    rules = rules_for(manual, kind)
    of_kind = [name for name in EXAMPLES if not WITHOUT.match(name) and play(path, kind, rules, name)]
    for without in sorted({rule for rule in rules if rule[0] == "+"} - NOT_IN_SCRIPTS):
        is_missed = False
        for name in of_kind:
            try:
                play(path, kind, [rule for rule in rules if rule != without], name)
            except Refused as refused:
                is_missed = True
                if refused.args[1]:
                    sys.exit(f"without {without}, {name}: {refused}")
        if not is_missed:
            sys.exit(f"nobody misses {without}")


if __name__ == "__main__":
    if sys.argv[1] == "rules":
        print("\n".join(rules_for(*sys.argv[2:])))
    else:
        exact(*sys.argv[2:])
