"""What must be so: in each state, of each answer, and in the end."""
from client import GRANTED
from keys import HOLD, INFO, LAST_TOKEN, LEASES, attempt, later, owner
from roles import BEAT

# What has happened: someone died, stood still, or left without an answer; the server's clock was set; a late request
# has taken it for one who waits, and does not know; a lease has run out.
TROUBLE, SET_BACK, SET_FORTH, UNAWARE, RUN_OUT = 1, 2, 4, 8, 16
FOR_EVER = 10 ** 12  # ms: a plain permit
PASSED_OVER = 10000  # ms within which the dead are, all together
PROMPTLY = 5  # ms in which a lock that was given back is taken


class Broken(Exception):
    """A promise is."""


def must(true, said):
    if not true:
        raise Broken(said)


# --- answers -------------------------------------------------------------------------------------

def token_of(part, request):
    """The token of the hold of that very request, before it arrives. None: there is none."""
    items = {(key, field): value for key, sort, _, _, field, value in part if sort}
    if not holds_it(items, "<owner>", "<attempt>"):
        return None
    about = items.get((HOLD, "<owner>")) or items.get((INFO, "<owner>"))
    return about[1] if about and about[0] in ("token", "shown") else None


def holds_it(items, whose, which):
    """Whether that attempt's hold stands there, in the name of that owner."""
    return (HOLD, which) in items or any((LEASES, f"{field} {which}") in items for field in (whose, whose + ":write"))


def check_tokens(part, request, answer, grown):
    """A new holder's token is larger than all before it; who asks again gets the same."""
    if request.what != "take" or answer[0] != GRANTED:
        must(grown == 0, "a token was given to nobody")
        return
    before = token_of(part, request)
    token = answer[1] - LAST_TOKEN
    if grown == 0:
        must(before is not None, "a new holder got no new token")
        must(token == before, f"asked again, it got another token: {token}, not {before}")
    else:
        must(token == grown > 0, f"a new holder's token is {token}, the last one {grown}")


def check_turn(model, redis, known, i):
    """Nobody enters before one who came to the fair queue earlier, or has a higher priority, and has done all to keep its
    place."""
    if model.roles[i].kind != "fair":
        return
    part = model.parts.values[redis[i + 1]]
    ours = min((value[1] for key, sort, _, _, _, value in part if sort and key == "rlock_queue:{x}"), default=None)
    for j, other in enumerate(known):
        waits = j != i and other.sure and other.phase == "wait" and model.roles[j].kind == "fair"
        above = model.roles[j].priority - model.roles[i].priority
        goes_first = above > 0 or above == 0 and (ours is None or other.sure and other.ticket < ours)
        if waits and not model.roles[j].variant and goes_first:
            again = {(key, field): value for key, sort, _, _, field, value in part if sort}
            must(holds_it(again, "<owner>", "<attempt>"), f"{i} enters before {j}, who came earlier" if above == 0 else
                 f"{i} enters before {j}, who has a higher priority")


# --- states --------------------------------------------------------------------------------------

def check(model, state):
    known, parts = model.known(state), model.redis(state)
    shown = not state.purse.mark & SET_FORTH
    holders = [i for i, each in enumerate(known) if each.left > 0]
    if shown:
        check_exclusion(model, known, holders)
        for i in holders:
            check_hold(model, known[i], i, parts)
    check_expiry(model, parts)
    check_permits(model, parts)
    for i, each in enumerate(known):
        inside = any(role.inner == i and not known[j].clean for j, role in enumerate(model.roles))
        if each.phase in ("idle", "gone") and each.clean and not inside and not model.roles[i].keep:
            left = [item for item in parts[i + 1] if "tombstone" not in item[0] and "-<owner>" not in str(item[5])
                    and not (item[0] == "{x}:timeout" and state.purse.mark & SET_BACK)]  # its lease lasts again
            must(not left, f"{i} has left, and of it there is {left}")


def top(model, known, i):
    """Whose hold it is."""
    return model.roles[i].inner if known[i].under else i


def check_exclusion(model, known, holders):
    kinds = {model.roles[i].kind for i in holders}
    owners = {top(model, known, i) for i in holders}
    if kinds & {"run", "fair"}:
        must(len(owners) <= 1, f"{owners} hold it at the same time")
    elif kinds & {"read", "write"}:
        must("write" not in kinds or len(owners) == 1, f"{owners} hold it at the same time, and one writes")
    elif holders:
        total = sum(model.roles[i].permits for i in holders)
        must(total <= int(model.roles[holders[0]].total), f"{total} permits are held")


def check_hold(model, each, i, parts):
    """What it was told to hold does stand, for as long as it believes."""
    role = model.roles[i]
    mine = {(key, field): value for key, sort, _, _, field, value in parts[i + 1] if sort}
    outer = {(key, field): value for key, sort, _, _, field, value in parts[(role.inner if each.under else i) + 1]
             if sort}
    ends = {key: value for part in (parts[0], parts[i + 1]) for key, sort, _, _, _, value in part if not sort}
    crossed = {(key, field): value for key, sort, _, _, field, value in parts[0] if sort}
    there, whose, which = (crossed, owner(role.inner), attempt(i)) if each.under else (mine, "<owner>", "<attempt>")
    write = ":write" if role.kind == "write" else ""
    must(holds_it(there, whose, which), f"{i} believes to hold it for {each.left} ms, but its attempt is not there")
    if role.kind in ("run", "fair", "read", "write"):
        must(outer.get(("x", f"<owner>{write}")), f"{i} believes to hold it for {each.left} ms, and does not")
        left = min(ends.get("x", -2), there.get((LEASES, f"{whose}{write} {which}"))[1])
    elif role.kind == "sem":
        permits = [value[1] for (key, field), value in mine.items() if key == "{x}:timeout"]
        must(len(permits) == role.permits, f"{i} believes to hold {role.permits} permits, and has {len(permits)}")
        left = min(permits)
    else:
        left = FOR_EVER
    must(left >= each.left, f"{i} believes to hold it for {each.left} ms, but it stands for {left}")


def check_permits(model, parts):
    """Permits in use and available are their number."""
    if not model.roles[0].total:
        return
    items = [item for part in parts for item in part if item[1]]
    available = [int(value) for key, _, _, _, _, value in items if key == "x"]
    if available:
        in_use = sum(key == "{x}:timeout" for key, *_ in items)
        in_use += sum(int(value) for key, _, _, _, field, value in items if key == HOLD and field == "plain")
        must(available[0] + in_use == int(model.roles[0].total), f"{available[0]} are available, and {in_use} in use")


def check_expiry(model, parts):
    stays = {"x", "{x}:timeout"} if model.roles[0].kind in ("sem", "plain") else set()
    for part in parts:
        for key, sort, _, _, _, left in part:
            must(sort or left >= 0 or key in stays, f"{key} never expires")


# --- the end -------------------------------------------------------------------------------------

def lock_left(parts):
    """ms for which something is held there."""
    ends = [0]
    for part in parts:
        for key, sort, _, _, _, value in part:
            if not sort and key == "x":
                ends.append(value)
            elif sort and key == "{x}:timeout":
                ends.append(int(value[1]) + 1)
    return max(ends)


def bound(model, state):
    """How long those who wait do so when all goes well from here on, ms."""
    kept = sum(2 * role.keep for role in model.roles)  # what is kept now, and what they will keep
    if state.purse.mark & ~RUN_OUT:
        return lock_left(model.redis(state)) + PASSED_OVER + kept
    return PROMPTLY + kept + (BEAT if state.purse.mark else 0)


def check_end(model, state):
    """Nobody holds it, waits, or has something under way: nothing is left but tokens, and what goes by itself."""
    check(model, state)
    parts = tuple(model.redis(state))
    if state.purse.mark or any(role.keep for role in model.roles):
        parts = later(parts, 10 ** 9)
    left = [(key, field, value) for part in parts for key, sort, _, _, field, value in part if sort
            and "tombstone" not in key]
    total = model.roles[0].total
    if state.purse.mark:
        left = [item for item in left if item[0] != "{x}:timeout"]  # the dead's, until the next one comes
    must(not left or total and {key for key, _, _ in left} == {"x"}, f"left in the end: {left}")
