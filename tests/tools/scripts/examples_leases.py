"""How long an owner's read holds last, as Redisson finds it out: by the longest of its lease keys, as many as the owner
has holds."""
from bench import A, B, C, INFO, LEASE, LEASES, R, about, attempt, lease_key, nth, same
from client import GRANTED, KEPT, LOST, REENTERED, RELEASED, STILL_HELD

SHORT, LONG = 5000, 60000


def _lasts(bench, ms, *owners):
    """For Redisson, and for itself, the lock lasts so long; of an owner's keys none lasts longer."""
    longest = -2
    for owner in owners or (A,):
        count = int(bench.server("HGET", "x", owner) or 0)
        longest = max([longest, *[bench.server.left(lease_key(owner, i)) for i in range(1, count + 1)]])
    about(longest, ms, "the longest lease")
    bench.ends_in(ms, "x")


def _nested(bench, *leases):
    """A's holds, one in the other, of attempts 1, 2..."""
    read = bench.lock("read")
    token = read.take(A, attempt(1), lease=leases[0])[1]
    for number, lease in enumerate(leases[1:], 2):
        same(read.take(nth(number), attempt(number), lease=lease, proof=(A, token))[0], REENTERED)
    return read


def longest_living_hold(bench):
    """holds of one owner, long and short: the lock lasts as long as the longest that has not been given back"""
    for leases in bench.afresh((SHORT, LONG, LEASE), (LONG, SHORT, LEASE), (LEASE, LONG, SHORT), (SHORT, LEASE, LONG)):
        for order in ((1, 2, 3), (3, 2, 1), (2, 1, 3), (2, 3, 1)):
            read, left = _nested(bench, *leases), dict(enumerate(leases, 1))
            for number in order:
                _lasts(bench, max(left.values()))
                left.pop(number)
                same(read.give(A, attempt(number), waiter=nth(number))[0], STILL_HELD if left else RELEASED)
            bench.standing()


def dead_hold_of_an_owner(bench):
    """a hold that is over, inside the living one or around it: the lock lasts as long as the living one"""
    for leases, dead, living in bench.afresh(((SHORT, LONG), 1, 2), ((LONG, SHORT), 2, 1)):
        for renewed in bench.afresh(True, False):
            read = _nested(bench, *leases)
            bench.server.let_pass(SHORT + 1000)
            _lasts(bench, LONG - SHORT - 1000)
            if renewed:
                same(read.renew(A, attempt(living), lease=LONG)[0], KEPT)
                _lasts(bench, LONG)
                same(read.renew(A, attempt(dead)), [LOST, 0, 0])
                _lasts(bench, LONG)
            same(read.give(A, attempt(living), waiter=nth(living))[0], RELEASED)
            same(read.give(A, attempt(dead), waiter=nth(dead)), [LOST, 0, 0])
            bench.standing()


def living_hold_given_back_around_a_dead_one(bench):
    """the living hold goes while others read: what it leaves is over for Redisson, too"""
    read = _nested(bench, SHORT, LONG)
    same(read.take(B, attempt(9), lease=LEASE)[0], GRANTED)
    bench.server.let_pass(SHORT)
    same(read.give(A, attempt(2), waiter=nth(2))[0], RELEASED)
    _lasts(bench, LEASE - SHORT, A, B)
    same(bench.server.left(lease_key(A)), -2)
    same(read.give(B, attempt(9))[0], RELEASED)
    bench.standing()


def renewed_one_by_one(bench):
    """a renewal makes no lease shorter, whichever of the owner's holds it is for"""
    read = _nested(bench, LONG, SHORT)
    same(read.renew(A, attempt(2), lease=SHORT)[0], KEPT)
    _lasts(bench, LONG)
    same(read.renew(A, attempt(2), lease=2 * LONG)[0], KEPT)
    _lasts(bench, 2 * LONG)
    same(read.renew(A, attempt(1), lease=SHORT)[0], KEPT)
    _lasts(bench, 2 * LONG)
    same(read.give(A, attempt(2), waiter=nth(2))[0], STILL_HELD)
    _lasts(bench, LONG)


def reads_inside_a_write(bench):
    """write, and reads inside it: when the write hold is given back the longest read hold is what lasts"""
    for leases in bench.afresh((SHORT, LONG), (LONG, SHORT)):
        read, write = bench.locks("read", "write")
        token = write.take(A, attempt(1), lease=2 * LONG)[1]
        for number, lease in enumerate(leases, 2):
            same(read.take(nth(number), attempt(number), lease=lease, proof=(A, token))[0], REENTERED)
        about(bench.server.left("x"), 2 * LONG)
        same(write.give(A, attempt(1))[0], RELEASED)
        _lasts(bench, LONG)
        same(read.give(A, attempt(2 if leases[0] == LONG else 3), waiter=nth(2))[0], STILL_HELD)
        _lasts(bench, SHORT)


def kept_inside(bench):
    """read --min-hold inside a hold, twice: nobody's, as long as the longer of both, beside the hold around them"""
    read = _nested(bench, LONG, LONG, LEASE)
    same(read.give(A, attempt(2), keep=2 * LONG, waiter=nth(2))[0], STILL_HELD)
    same(read.give(A, attempt(3), keep=SHORT, waiter=nth(3))[0], STILL_HELD)
    _lasts(bench, 2 * LONG, A, A + "#kept")
    bench.ends_in(LONG, lease_key(A))
    same(bench.server.value("x"), {"mode": "read", A: "1", A + "#kept": "1"})
    same(read.give(A, attempt(1))[0], RELEASED)
    _lasts(bench, 2 * LONG, A + "#kept")
    bench.standing("x", INFO, LEASES, lease_key(A + "#kept"))
    bench.server.let_pass(2 * LONG)
    bench.standing()


def taken_again_around_an_inner_hold(bench):
    """an owner that has left an inner hold behind takes it again: both holds last as long as they do"""
    for first, second in bench.afresh((LONG, SHORT), (SHORT, LONG)):
        read = _nested(bench, LEASE, first)
        same(read.give(A, attempt(1))[0], STILL_HELD)
        same(read.take(A, attempt(3), lease=second)[0], GRANTED)
        same(bench.server.value("x"), {"mode": "read", A: "2"})
        _lasts(bench, LONG)
        same(read.give(A, attempt(2 if first == LONG else 3))[0], STILL_HELD)
        _lasts(bench, SHORT)
        same(read.renew(A, attempt(3 if first == LONG else 2), lease=LEASE)[0], KEPT)
        same(read.give(A, attempt(3 if first == LONG else 2))[0], RELEASED)
        bench.standing()


def lost_and_standing_again(bench):
    """an owner's lease key that a server has lost: with a hold that comes it stands again, and with the next renewal of
    each of the others it lasts as long as they do; a single hold without it is over"""
    read = _nested(bench, LONG)
    bench.server("DEL", lease_key(A))
    same(read.take(nth(2), attempt(2), lease=SHORT, proof=(A, 1))[0], REENTERED)
    same(read.renew(A, attempt(1), lease=LONG)[0], KEPT)
    _lasts(bench, LONG)
    same(read.give(A, attempt(2), waiter=nth(2))[0], STILL_HELD)
    _lasts(bench, LONG)
    bench.server("DEL", lease_key(A))
    same(read.renew(A, attempt(1)), [LOST, 0, 0])
    bench.standing()


def beside_redissons(bench):
    """Redisson's reader beside holds of one owner: each end leaves the longest of all"""
    for theirs in bench.afresh(LEASE, 2 * LONG, 1000):
        read = _nested(bench, SHORT, LONG)
        bench.reader(R, 1000, theirs)
        _lasts(bench, max(theirs, LONG), A, R)
        same(read.give(A, attempt(2), waiter=nth(2))[0], STILL_HELD)
        _lasts(bench, max(theirs, SHORT), A, R)
        same(read.take(B, attempt(3), lease=LEASE)[0], GRANTED)
        same(read.give(A, attempt(1))[0], RELEASED)
        _lasts(bench, max(theirs, LEASE), B, R)
        same(read.give(B, attempt(3))[0], RELEASED)
        same(bench.server.value("x"), {"mode": "read", R: "2"})
        bench.ends_in(theirs, "x")


def redissons_after_a_lock_was_deleted(bench):
    """rlock's long holds are deleted by hand, Redisson's reader comes: what rlock's next one gives back leaves it alone"""
    for number in bench.afresh(1, 2, 3, 5):
        read = bench.lock("read")
        for each in range(1, number + 1):
            read.take(nth(each), attempt(each), lease=LONG)
        bench.server("DEL", "x")
        bench.reader(R, LEASE)
        same(read.take(B, attempt(9), lease=SHORT)[0], GRANTED)
        same(read.give(B, attempt(9))[0], RELEASED)
        same(bench.server.value("x"), {"mode": "read", R: "1"}, number)
        same(0 < bench.server.left("x") <= LEASE, True, f"{number}: Redisson's lasts {bench.server.left('x')} ms")
        for each in range(1, number + 1):
            same(read.renew(nth(each), attempt(each)), [LOST, 0, 0])
        same(bench.server.value("x"), {"mode": "read", R: "1"}, number)


def broken_with_all_holds(bench):
    """break: all of an owner's read holds, and of Redisson's reader, and no other's; they are lost at their renewal"""
    read = _nested(bench, SHORT, LONG, LEASE)
    same(read.take(B, attempt(9), lease=LEASE)[0], GRANTED)
    bench.reader(R, LEASE, LEASE)
    for victim in (A, R):
        same(read.run("rw_break", "", 0, attempt(0x77), 0, victim, "user")[0], RELEASED)
    bench.standing("x", INFO, LEASES, lease_key(B))
    same(list(bench.server.value(LEASES)), [f"{B} {attempt(9)}"])
    _lasts(bench, LEASE, B)
    same(read.renew(A, attempt(2)), [LOST, 0, 0])
    same(read.give(B, attempt(9))[0], RELEASED)
    bench.standing()


def very_many_holds_of_one_owner(bench):
    """a hundred holds, one in the other: the last lives on, the lock ends with it, and none stays behind"""
    count = 100
    for order in bench.afresh(1, -1):
        read = _nested(bench, *[LEASE] * count)
        *ended, last = [*range(1, count + 1)][::order]
        for number in ended:
            same(read.give(A, attempt(number), waiter=nth(number))[0], STILL_HELD)
        same(read.renew(A, attempt(last), lease=SHORT)[0], KEPT)
        _lasts(bench, LEASE)
        same(read.give(A, attempt(last), waiter=nth(last))[0], RELEASED)
        bench.standing()


def nested_without_memory(bench):
    """no memory: holds of one owner are renewed and given back, and the lock lasts as long as the longest that is left"""
    read = _nested(bench, SHORT, LONG, LEASE)
    with bench.no_memory():
        same(read.renew(A, attempt(1), lease=LEASE)[0], KEPT)
        same(read.give(A, attempt(2), waiter=nth(2))[0], STILL_HELD)
        _lasts(bench, LEASE)
        same(read.give(A, attempt(3), waiter=C)[0], STILL_HELD)
        same(read.give(A, attempt(1))[0], RELEASED)
    bench.standing()
