"""What users with few rights can do, and what they leave behind when they lack one.

usage: python3 rights.py rules MANUAL KIND
       python3 rights.py enough MANUAL KIND SOCKET SEED ROUNDS
       python3 rights.py minimal MANUAL KIND SOCKET SEED ROUNDS

rules     the rules that rlock-server(7), the file MANUAL, gives for a kind, a line each; also for "all",
          and what is needed in addition for "cluster://", "--replicas"...
enough    random walks (see scripts/walk.py) of users who have a kind's rules, for that kind
minimal   for each command among the rules: walks of users who have all but that one, until the
          server refuses it. What was refused must have taken nothing, and left nothing that stays

KIND: as in the manual, "latch set". SCRIPTS in the environment: the folder of the scripts.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts"))

from client import Server, ServerError  # noqa: E402
from model_latch import Latch  # noqa: E402
from model_mutex import Mutex  # noqa: E402
from model_rw import ReadWrite  # noqa: E402
from model_sem import Plain, Sem  # noqa: E402
from walk import TooSlow  # noqa: E402

MODELS = {"run": Mutex, "fair": Mutex, "read": ReadWrite, "write": ReadWrite, "sem": Sem,
          "sem --resize": Sem, "sem --plain": Plain, "latch set": Latch, "latch down": Latch,
          "latch wait": Latch}
# The kind by whose rules a script is run that is not its lock's.
KIND_OF = {"sem_plain_acquire": "sem --plain", "sem_plain_release": "sem --plain",
           "sem_resize": "sem --resize", "latch_set": "latch set", "latch_down": "latch down",
           "latch_acquire": "latch wait"}
# What rlock itself sends, and what scripts do without.
NOT_IN_SCRIPTS = {"+eval", "+evalsha", "+subscribe", "+publish"}
REFUSALS = ("NOPERM", "ERR The user executing the script can't", "ERR ACL failure in script")
STEPS = 200


# --- the manual ---------------------------------------------------------------------------------

def section(manual):
    with open(manual, encoding="utf-8") as file:
        text = file.read().split(".Sh ACCESS CONTROL\n")[1].split("\n.Sh ")[0]
    for escape, character in ((r"\(aq", ""), (r"\(ti", "~"), (r"\-", "-"), (r"\&", "")):
        text = text.replace(escape, character)
    return text


def rules_for(manual, kind):
    """In the order of the manual, the user's name and password left out."""
    text = section(manual)
    if kind == "all":
        block = text.split(".Bd -literal")[1].split(".Ed")[0]
        return [word for word in block.split() if word[0] in "~&+"]
    for item in text.split(".It ")[1:]:
        title, *lines = item.split(".El")[0].splitlines()
        names = re.sub(r"\b(Ar|Cm|Fl|Li) ", "", title.replace("Fl -", "Fl --")).split(" , ")
        if kind in names:
            return [word for line in lines for word in line.split() if word[0] in "~&+"]
    raise LookupError(f"no rules for {kind}")


# --- walks --------------------------------------------------------------------------------------

class Refused(Exception):
    """By the server: its error, and what is wrong with what is left now."""


class User(Server):
    """Runs scripts by the rules of one kind, looked at by the model's own connection."""

    def __init__(self, path, admin, may_stay):
        super().__init__(path)
        self.admin, self.may_stay = admin, may_stay

    def hash_of(self, path):
        return self.admin.hash_of(path)

    def __call__(self, *words):
        if words[0] != "EVALSHA":
            return super().__call__(*words)
        before = self.admin.see()
        try:
            return super().__call__(*words)
        except ServerError as error:
            script = next(path for path, sha1 in self.admin.hashes.items() if sha1 == words[1])
            faults = list(self.faults(os.path.basename(script), words[3 + words[2]:], before))
            if not str(error).startswith(REFUSALS):
                faults.append("not a refusal")
            raise Refused(f"{script}: {error}", faults) from error

    def faults(self, script, args, before):
        after = self.admin.see()
        owner, attempt, proof = args[0], args[2], [*args, *[""] * 11][10]
        for key, (_, left) in after.items():
            if left < 0 and key not in self.may_stay:
                yield f"{key} stays for ever"
        if any(counted(after, each) > counted(before, each) for each in (owner, proof)):
            yield f"half taken: {before}, then {after}"
        ends = script.endswith(("_renew.lua", "_release.lua"))
        if known(after, attempt) and (ends or not known(before, attempt)):
            yield f"{'found too late' if ends else 'half taken'}: {before}, then {after}"


def counted(seen, owner):
    """The holds that the lock counts for an owner; of a number, how far it is below zero."""
    lock = seen.get("x", ({}, 0))[0]
    if isinstance(lock, dict):
        return int(lock.get(owner, 0)) + int(lock.get(owner + ":write", 0))
    return -int(lock)


def known(seen, attempt):
    """Whether there is anything of the hold of an attempt."""
    hold = seen.get("rlock_hold:{x}", ({}, 0))[0]
    permits = seen.get("{x}:timeout", ({}, 0))[0]
    start = bytes.fromhex(attempt).decode("latin-1")[:12]
    return (attempt in hold or any(value.startswith(attempt) for value in hold.values())
            or any(permit.startswith(start) for permit in permits))


class Users:
    """A lock's connection: scripts of the kind go through the user's, the others through the model's."""

    def __init__(self, lock, kind, user):
        self.admin, self.lock, self.kind, self.user = lock.server, lock, kind, user
        lock.server = self

    def hash_of(self, path):
        script = os.path.basename(path)[:-len(".lua")]
        self.whose = self.user if KIND_OF.get(script, self.lock.kind) == self.kind else self.admin
        return self.admin.hash_of(path)

    def __call__(self, *words):
        return self.whose(*words)

    def commands(self):
        """Not counted: the model looks at what a script leaves, too."""
        return 0


def walk(path, kind, rules, seed):
    """Returns the Refused that has ended it, or None."""
    for _ in range(10):
        model = MODELS[kind](path, seed)
        model.server("ACL", "SETUSER", "app", "reset", "on", ">secret",
                     *(rule.replace("app*", "x") for rule in rules))
        user = User(path, model.server, model.may_stay | {model.lock.keys[1]})
        user("AUTH", "app", "secret")
        for lock in model.locks:
            Users(lock, kind, user)
        try:
            for _ in range(STEPS):
                model.step()
            model.end()
            return None
        except Refused as refusal:
            return refusal
        except TooSlow:
            pass
        finally:
            user.close()
            model.close()
    raise AssertionError("the machine is too slow for this test")


def enough(manual, kind, path, seed, rounds):
    for number in range(int(rounds)):
        refusal = walk(path, kind, rules_for(manual, kind), f"{seed}/{number}")
        if refusal:
            sys.exit(f"seed {seed}, round {number}: {refusal}")


def minimal(manual, kind, path, seed, rounds):
    rules = rules_for(manual, kind)
    for without in sorted({rule for rule in rules if rule[0] == "+"} - NOT_IN_SCRIPTS):
        refused = False
        for number in range(int(rounds)):
            refusal = walk(path, kind, [rule for rule in rules if rule != without], f"{seed}/{number}")
            if refusal and refusal.args[1]:
                sys.exit(f"without {without}, seed {seed}, round {number}: {refusal}")
            refused = refused or refusal is not None
        if not refused:
            sys.exit(f"seed {seed}: nobody misses {without}")


if __name__ == "__main__":
    if sys.argv[1] == "rules":
        print("\n".join(rules_for(*sys.argv[2:])))
    else:
        {"enough": enough, "minimal": minimal}[sys.argv[1]](*sys.argv[2:])
