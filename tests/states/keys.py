"""What Redis keeps, as a value that can be compared, moved in time, and written back.

A state is (what belongs to nobody, what belongs to client 0, to client 1...). Each part is a tuple of items, in
which a client's own owner, attempt and permits have a sign in place of its number, so that clients can change
places. Times are relative to the server's clock, tokens to the last one that was given.
"""
import functools
import re

from server import NOW

MS = NOW * 1000
LAST_TOKEN = 1000  # in every state
TOKEN, HOLD = "redisson_lock_token:{x}", "rlock_hold:{x}"  # HOLD: of a semaphore
INFO, LEASES = "rlock_info:{x}", "rlock_leases:{x}"
OWNER = re.compile(r"c000000([0-9])-2222-4333-8444-555555555555:\1@host")
ATTEMPT = re.compile(r"([0-9])\1{31}")
SINCE = re.compile(r'"since":[0-9.e+]+')
SHOWN = re.compile(r'{"token":([0-9]+)(,.*)', re.DOTALL)
STATE = re.compile(r"(beats|woken|deaf) ([0-9]{13})$")  # at the front of a line
NEWEST = re.compile(r"(-?[0-9]{13,16})( [0-9]+ -?<owner> .*)", re.DOTALL)  # with --supersede
IN_LINE = ("rlock_waiters:{x}", "rlock_queue:{x}", "rlock_writers:{x}")  # by tickets, which are no times to come
TICKET = "rlock_told:{x}"
TOLD = re.compile(r"([0-9]{1,12})( .*)?$", re.DOTALL)


def owner(i):
    return f"c000000{i}-2222-4333-8444-555555555555:{i}@host"


def attempt(i):
    return str(i) * 32


def permit(i, number=1):
    own = chr(0x11 * i) * 16
    return own if number == 1 else own[:12] + number.to_bytes(4, "big").decode("latin-1")


def is_permit(text):
    return len(text) == 16 and text[:12] == text[0] * 12 and ord(text[0]) % 0x11 == 0


def clients_in(text):
    found = {int(i) for i in OWNER.findall(text)} | {int(i) for i in ATTEMPT.findall(text)}
    return found | ({ord(text[0]) // 0x11} if is_permit(text) else set())


def signed(text, i):
    """With signs in place of a client's number."""
    if is_permit(text):
        return f"<permit {1 if text == permit(i) else ord(text[15])}>"
    return text.replace(owner(i), "<owner>").replace(attempt(i), "<attempt>")


@functools.lru_cache(100000)
def claimed(key, field, text):
    """Whose it is, None: nobody's, or that of several; and all with signs in place of that client's number."""
    whose = clients_in(key) | clients_in(field) | clients_in(text)
    if len(whose) != 1:
        return None, key, field, text
    i = whose.pop()
    return i, signed(key, i), signed(field, i), signed(text, i)


def named(text, i):
    """The other way round."""
    if text[:8] == "<permit ":
        return permit(i, int(text[8:-1]))
    return text.replace("<owner>", owner(i)).replace("<attempt>", attempt(i))


def from_text(key, field, text, counter):
    """A value: text, or ("ms", epoch ms), ("ticket", epoch ms), ("token", which, the rest)."""
    if key == HOLD and (field == "<owner>" or " " in text):
        if found := TOLD.match(text):
            return "token", int(found[1]) - counter, found[2] or ""
    if key == INFO and (found := SHOWN.match(text)):
        return "shown", int(found[1]) - counter, SINCE.sub('"since":0', found[2])
    if found := STATE.match(text):
        return "ms", int(found[2]) - MS, found[1]
    if not field and (found := NEWEST.match(text)):
        return "newest", int(found[1]) - MS, found[2]
    if key == TICKET:
        return "ticket", int(text) - MS
    if text.isdigit() and len(text) == 13:
        return "ms", int(text) - MS
    return SINCE.sub('"since":0', text)


def from_score(key, text):
    score = float(text)
    if key in IN_LINE:
        return "ticket", int(score) - MS
    return ("ms", score - MS) if score > 1e11 else ("n", score)


def to_text(value):
    if isinstance(value, str):
        return value.replace('"since":0', f'"since":{MS}')
    kind = value[0]
    if kind == "shown":
        return f'{{"token":{value[1] + LAST_TOKEN}' + value[2].replace('"since":0', f'"since":{MS}')
    if kind == "newest":
        return f"{value[1] + MS}{value[2]}"
    if kind == "ms":
        return " ".join([*value[2:], repr(value[1] + MS).removesuffix(".0")])
    if kind == "ticket":
        return str(value[1] + MS)
    return f"{value[1] + LAST_TOKEN}{value[2]}" if kind == "token" else repr(value[1])


def entries(kind, value):
    """The parts of a key's value: (place, field or member, value or score as text)."""
    if kind == "list":
        return [(number, member, "") for number, member in enumerate(value)]
    if kind == "string":
        return [(0, "", value)]
    return [(0, value[i], value[i + 1]) for i in range(0, len(value), 2)]


def parse(seen, clients):
    """What Server.run() has seen. Returns the state, the last token of all, as a number that is not relative."""
    parts = [[] for _ in range(clients + 1)]
    counter = next((int(value) for key, _, _, value in seen if key == TOKEN), LAST_TOKEN)
    for key, kind, left, value in seen:
        if key == TOKEN:
            if left != -1:
                raise AssertionError("the token expires")
            continue
        whose, name, _, _ = claimed(key, "", "")
        parts[0 if whose is None else whose + 1].append((name, "", kind, 0, "", left))
        for place, field, text in entries(kind, value):
            score = text if kind == "zset" else None
            whose, name, field, text = claimed(key, field, "" if score else text)
            if score:
                text = from_score(name, score)
            elif kind != "list":
                text = from_text(name, field, text, counter)
            parts[0 if whose is None else whose + 1].append((name, "item", kind, place, field, text))
    return tuple(tuple(sorted(part, key=lambda item: (item[:5], str(item[5])))) for part in parts), counter


def words(state):
    """The commands that write it: a count, and so many words, each."""
    out = ["3", "SET", TOKEN, str(LAST_TOKEN)]
    keys, lists, ends = {}, [], []
    for number, part in enumerate(state):
        for name, sort, kind, place, field, value in part:
            key = named(name, number - 1)
            if not sort:
                if value >= 0:
                    ends += ["3", "PEXPIREAT", key, str(MS + value)]
                continue
            field = named(field, number - 1)
            if kind == "list":
                lists.append((key, place, field))
                continue
            text = named(to_text(value), number - 1)
            keys.setdefault((key, kind), []).extend((text, field) if kind == "zset" else (field, text))
    for key, _, field in sorted(lists):
        out += ["3", "RPUSH", key, field]
    for (key, kind), rest in keys.items():
        if kind == "string":
            out += ["3", "SET", key, rest[1]]
        else:
            out += [str(len(rest) + 2), "HSET" if kind == "hash" else "ZADD", key, *rest]
    return out + ends


def later(state, ms):
    """The same, so many ms later. Keys that have expired are gone."""
    gone = {named(name, number - 1) for number, part in enumerate(state)
            for name, sort, _, _, _, left in part if not sort and 0 <= left <= ms}

    def moved(sort, value):
        if not sort:
            return value - ms if value >= 0 else value
        if isinstance(value, str) or value[0] in ("n", "token", "shown"):
            return value
        return value[0], value[1] - ms, *value[2:]

    return tuple(tuple((name, sort, kind, place, field, moved(sort, value))
                       for name, sort, kind, place, field, value in part
                       if named(name, number - 1) not in gone)
                 for number, part in enumerate(state))
