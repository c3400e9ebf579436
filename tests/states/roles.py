"""What a client is, and what it knows: the library's rules, as values.

A client follows lib/lock: a request without an answer is sent again; what may have been taken is given back; a
try has a number, which grows when something of the last one may still arrive; who gives back says whether a
request to take it was never answered; who is told that it is busy listens, tries once more, and sleeps until
a message, or for as long as the answer says.
"""
from typing import NamedTuple, Optional

from client import KINDS
from keys import LAST_TOKEN, MS, attempt, owner

LEASE = 4000  # ms
BEAT, PROMPT = 2500, 1500  # ms: lib/lock/lock.h, acquire.c
# Which of a kind's keys a renewal gets, and how many a request to take it: lib/lock/kind.c.
HELD = {"run": {0, 2, 3}, "fair": {0, 2, 3}, "read": {0, 2, 3}, "write": {0, 2, 3}, "sem": {0, 2, 3, 7}}
TO_TAKE = {"run": 7}


ELSE = {"raise": "token_raise", "set": "latch_set", "forget": "forget", "down": "latch_down"}


class Role(NamedTuple):
    """What a client is there for."""
    kind: str
    waits: bool = True
    lease: int = LEASE
    permits: int = 1
    total: str = ""  # of a semaphore
    variant: str = ""
    keep: int = 0  # ms for which it leaves it held
    inner: Optional[int] = None  # the client whose command it runs in
    priority: int = 0


class Request(NamedTuple):
    what: str  # take, renew, give; raise: quorum.py; set, down, forget: latch.py
    number: int
    astray: bool = False
    line: bool = False  # it asks for a place in line
    place: int = 0
    ticket: Optional[int] = None  # ms, from now
    proof: Optional[int] = None  # the enclosing hold's token, or the one that is proposed
    under: bool = False  # given back, or renewed, as a hold of the one around it
    waits: bool = False  # given back by one that does not know that it holds it


class Local(NamedTuple):
    """What a client knows. Times are ms from now."""
    phase: str = "idle"  # wait, hold, ask (no answer), dead; gone: it has ended
    asked: Optional[Request] = None  # what no answer has come to
    strays: tuple = ()  # what may still arrive, though nobody waits for the answer
    steps: int = 0  # so many requests it may still make
    number: int = 1
    unsure: bool = False  # something of this try may still arrive
    astray: bool = False  # namely a request to take it
    left: int = 0  # for how long it believes to hold it
    token: Optional[int] = None
    under: bool = False  # it has re-entered
    proof: Optional[int] = None
    due: int = 0  # when it tries again
    hears: int = 0  # 1: its own channel, 2: everybody's as well
    place: int = 0  # in line, 2 standing for all behind
    ticket: Optional[int] = None
    sure: bool = False  # it has done all to keep its place
    stopped: bool = False
    clean: bool = True  # as far as it knows nothing of it stands on the server


def key(pattern):
    return pattern.replace("*", "x")


def script(role, what):
    if what in ELSE:
        return ELSE[what]
    return KINDS[role.kind][{"take": 0, "renew": 1, "give": 2}[what]]


def channel(role):
    return key(KINDS[role.kind][4])


def arguments(role, i, request, heard_by):
    """All words of EVALSHA behind the hash."""
    all_keys = [key(pattern) for pattern in KINDS[role.kind][3]]
    tombstone = key(f"rlock_tombstone:{attempt(i)}:{{*}}")
    if request.what == "renew":
        held = HELD[role.kind]
        keys = [each if at in held else all_keys[0] for at, each in enumerate(all_keys[:max(held) + 1])]
    else:
        record = [key("rlock_last:{*}")] if request.what == "give" and role.kind in ("run", "fair") else []
        lease = [key(f"{{*}}:{owner(i)}:rwlock_timeout:1")] if role.kind in ("read", "write") else []
        keys = all_keys[:TO_TAKE.get(role.kind, 99) if request.what == "take" else 99] + lease + record + [tombstone]
    if request.what in ("set", "down"):
        return [str(len(keys)), *keys, attempt(i), "0", attempt(i), str(role.permits),
                f"PUBLISH {heard_by:x}.{channel(role)}", "0"]
    outer = owner(role.inner) if role.inner is not None else owner(i)
    args = [outer if request.under else owner(i), str(role.lease), f"{attempt(i)}.{request.number}",
            str(role.permits), f"PUBLISH {heard_by:x}.{channel(role)}", "0"]
    if request.what == "take":
        proof = request.proof is not None
        args += [str(int(request.line)),
                 f'"host":"h","pid":1,"user":"u","command":"c","permits":{role.permits}',
                 role.total, role.variant, outer if proof else "", str(request.proof + LAST_TOKEN) if proof else "",
                 str(request.place or ""), "" if request.ticket is None else str(request.ticket + MS),
                 "", "", "", str(role.priority or "")]
    elif request.what == "give":
        args += ["", str(role.keep or ""), owner(i) if request.under else "", "1" if request.astray else "",
                 "", "", "", "", str(role.priority if request.waits else "")]
    elif request.what == "raise":
        args.append(str(request.proof + LAST_TOKEN))
    while args[-1] == "":
        args.pop()
    return [str(len(keys)), *keys, *args]


# --- what happens to what it knows ---------------------------------------------------------------

def less(number, by):
    return None if number is None else number - by


def moved(each, ms=0, grown=0):
    """A Local or a Request: tickets are times of the server's, tokens are relative to the last, which has grown by so much."""
    if each is None:
        return None
    each = each._replace(ticket=less(each.ticket, ms), proof=less(each.proof, grown))
    if isinstance(each, Request):
        return each
    return each._replace(token=less(each.token, grown), asked=moved(each.asked, ms, grown),
                         strays=tuple(moved(stray, ms, grown) for stray in each.strays))


def later(each, ms):
    return moved(each, ms)._replace(left=max(each.left - ms, 0), due=max(each.due - ms, 0))


def told(each, own, everybody, text):
    """A message on its own channel, or on everybody's. An answer that comes later is newer than it."""
    if each.phase != "wait" or not (own and each.hears or everybody and each.hears == 2):
        return each
    if everybody or text == "0":
        return each._replace(due=0)
    if text == "beat":
        return each._replace(due=min(each.due, BEAT))
    ms = int(text.split()[1])
    return each._replace(due=min(each.due, ms + 1), place=1, hears=each.hears if each.stopped else 2)
