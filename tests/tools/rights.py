"""What users with few rights can do, and what they leave behind when they lack one.

usage: python3 rights.py rules MANUAL KIND
       python3 rights.py enough MANUAL KIND SOCKET SEED ROUNDS
       python3 rights.py minimal MANUAL KIND SOCKET SEED ROUNDS

rules     the rules that rlock-server(7), the file MANUAL, gives for a kind, a line each; also for "all",
          and what is needed in addition for "cluster://", "--replicas"...
enough    users who have a kind's rules run its scripts, whatever comes together at random
minimal   for each command among the rules: users who have all but that one, until the server
          refuses it. What was refused must have taken nothing, and left nothing that stays

KIND: as in the manual, "latch set". SCRIPTS in the environment: the folder of the scripts.
"""
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts"))

from client import BUSY, GRANTED, REENTERED, Lock, Listener, Server, ServerError  # noqa: E402

# Kinds of lock that come together under one name, and the keys that have no expiry.
MUTEX, RW = (("run", "fair"), ()), (("read", "write"), ())
SEM, PLAIN, LATCH = (("sem",), ("x", "{x}:timeout")), (("plain",), ("x",)), (("latch",), ("x",))
TOGETHER = {"run": MUTEX, "fair": MUTEX, "read": RW, "write": RW, "sem": SEM, "sem --resize": SEM,
            "sem --plain": PLAIN, "latch set": LATCH, "latch down": LATCH, "latch wait": LATCH}
# The kind by whose rules a script is run that is not its lock's.
KIND_OF = {"sem_plain_acquire": "sem --plain", "sem_plain_release": "sem --plain",
           "sem_resize": "sem --resize", "latch_set": "latch set", "latch_down": "latch down",
           "latch_acquire": "latch wait"}
# What rlock itself sends, and what scripts do without.
NOT_IN_SCRIPTS = {"+eval", "+evalsha", "+subscribe", "+publish"}
REFUSALS = ("NOPERM", "ERR The user executing the script can't", "ERR ACL failure in script")
STEPS, CLIENTS, PAUSE, SHORT, LONG = 200, 6, 1850, 1800, 600000  # ms


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


# --- those who run them -------------------------------------------------------------------------

class Client:
    """One rlock: one attempt, which waits or holds."""

    def __init__(self, number, lock, chance, proof):
        self.owner, self.lock, self.proof = f"{number:08x}-2222-4333-8444-555555555555:{number}@host", lock, proof
        self.attempt = f"{chance.getrandbits(128):032x}"
        self.lease = chance.choice([SHORT, LONG])
        self.under, self.place, self.waits, self.holds = self.owner, "", False, False
        self.options = {"wait": chance.random() < 0.7}
        if lock.kind in ("sem", "plain"):
            self.options.update(permits=chance.choice([1, 1, 2, 3]), total=chance.choice(["", 5, 5, 6]))
        elif lock.kind in ("fair", "write"):
            self.options["variant"] = chance.choice(["", "", {"fair": "supersede", "write": "prefer-readers"}[lock.kind]])


class Crowd:
    """Some of them, who take, renew, give back, leave and die at random. Nobody looks at the answers: the examples
    and tests/states do."""

    def __init__(self, path, kind, seed):
        kinds, self.may_stay = TOGETHER[kind]
        self.server, self.listener = Server(path), Listener(path)
        self.server("FLUSHALL")
        self.chance = random.Random(seed)
        self.locks = [Lock(self.server, each) for each in kinds]
        self.proofs, self.born = [("stranger", "1")], 0
        self.clients = [self.bear() for _ in range(CLIENTS)]
        self.counts = ["f" * 32]

    def close(self):
        self.server.close()
        self.listener.close()

    def bear(self):
        self.born += 1
        proof = self.chance.choice([("", ""), ("", ""), self.chance.choice(self.proofs[-4:])])
        client = Client(self.born, self.chance.choice(self.locks), self.chance, proof)
        if client.options["wait"] and self.chance.random() < 0.7:
            self.listener.listen(client.lock.own_channel(client.owner))
        return client

    def step(self):
        if self.chance.random() < 0.1:
            self.server.let_pass(PAUSE)
        at = self.chance.randrange(CLIENTS)
        who = self.clients[at]
        if who.lock.kind == "latch":
            self.count(who.lock)
        elif who.lock.kind == "sem" and self.chance.random() < 0.05:
            who.lock.run("sem_resize", who.owner, LONG, who.attempt[::-1], self.chance.randint(3, 7))
        elif self.chance.choice(self.choices(who))(who):
            self.listener.deafen(who.lock.own_channel(who.owner))
            self.clients[at] = self.bear()

    def choices(self, who):
        if not who.holds:
            return [self.take, self.take, self.take] + [self.give, self.die] * who.waits
        return [self.take, self.give, self.give, self.give] + [self.renew, self.renew] * bool(who.lock.renew_script) \
            + [self.die] * (who.lease == SHORT)

    def take(self, who):
        answer = who.lock.take(who.owner, who.attempt, who.lease, proof=who.proof, place=who.place, **who.options)
        who.holds = answer[0] in (GRANTED, REENTERED)
        if who.holds:
            who.under = who.proof[0] if answer[0] == REENTERED else who.owner
            self.proofs.append((who.under, str(answer[1])))
        elif answer[0] == BUSY and who.options["wait"]:
            who.waits, who.place = True, answer[2]
        else:
            self.give(who)
        return not who.holds and not who.waits

    def renew(self, who):
        who.lock.renew(who.under, who.attempt, who.lease, who.options.get("permits", 1))

    def give(self, who):
        owner = who.under if who.holds else who.proof[0] or who.owner
        keep = SHORT if who.holds and who.lock.kind != "plain" and self.chance.random() < 0.2 else 0
        for _ in range(self.chance.choice([1, 1, 2])):  # twice: as after a lost answer
            who.lock.give(owner, who.attempt, who.lease, who.options.get("permits", 1), keep, who.owner)
        return True

    def die(self, who):
        return True

    def count(self, lock):
        """Down to a latch, and what is done with one besides; also again, as after a lost answer."""
        if self.chance.random() < 0.6:
            self.counts.append(f"{self.chance.getrandbits(128):032x}")
        script = self.chance.choice(["latch_set", "latch_down", "latch_down", "latch_acquire", "forget"])
        if script == "latch_acquire":
            lock.take("someone", "a" * 32, variant=self.chance.choice(["must-exist", ""]),
                      place=self.chance.choice(["", "0", "1"]))
        else:
            lock.run(script, "someone", LONG, self.chance.choice(self.counts[-3:]),
                     self.chance.randint(1, 6) if script == "latch_set" else self.chance.choice([0, 1, 1, 2]))

    def end(self):
        for who in self.clients:
            if who.lock.kind != "latch" and (who.holds or who.waits):
                self.give(who)


class Refused(Exception):
    """By the server: its error, and what is wrong with what is left now."""


class User(Server):
    """Runs scripts by the rules of one kind, looked at by the crowd's own connection."""

    def __init__(self, path, admin, may_stay):
        super().__init__(path)
        self.admin, self.may_stay = admin, may_stay

    def hash_of(self, path):
        return self.admin.hash_of(path)

    def call(self, *words):
        if words[0] != "EVALSHA":
            return super().call(*words)
        before = self.admin.see()
        try:
            return super().call(*words)
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
    """A lock's connection: scripts of the kind go through the user's, the others through the crowd's."""

    def __init__(self, lock, kind, user):
        self.admin, self.lock, self.kind, self.user = lock.server, lock, kind, user
        lock.server = self

    def hash_of(self, path):
        script = os.path.basename(path)[:-len(".lua")]
        self.whose = self.user if KIND_OF.get(script, self.lock.kind) == self.kind else self.admin
        return self.admin.hash_of(path)

    def __call__(self, *words):
        return self.whose(*words)


def play(path, kind, rules, seed):
    """Returns the Refused that has ended it, or None."""
    crowd = Crowd(path, kind, seed)
    crowd.server("ACL", "SETUSER", "app", "reset", "on", ">secret", *(rule.replace("app*", "x") for rule in rules))
    user = User(path, crowd.server, {*crowd.may_stay, crowd.locks[0].keys[1]})
    user("AUTH", "app", "secret")
    for lock in crowd.locks:
        Users(lock, kind, user)
    try:
        for _ in range(STEPS):
            crowd.step()
        crowd.end()
        return None
    except Refused as refusal:
        return refusal
    finally:
        user.close()
        crowd.close()


def enough(manual, kind, path, seed, rounds):
    for number in range(int(rounds)):
        refusal = play(path, kind, rules_for(manual, kind), f"{seed}/{number}")
        if refusal:
            sys.exit(f"seed {seed}, round {number}: {refusal}")


def minimal(manual, kind, path, seed, rounds):
    rules = rules_for(manual, kind)
    for without in sorted({rule for rule in rules if rule[0] == "+"} - NOT_IN_SCRIPTS):
        refused = False
        for number in range(int(rounds)):
            refusal = play(path, kind, [rule for rule in rules if rule != without], f"{seed}/{number}")
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
