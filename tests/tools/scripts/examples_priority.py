"""fair --priority: who goes before whom, what becomes of Redisson's waiters, and what it costs."""
from bench import A, B, C, LEASE, MOST, PATIENCE, QUEUE, R, S, TIMEOUTS, about, attempt, nth, same
from client import BUSY, GRANTED, OUSTED, RELEASED

HIGH, LOW, HIGHEST = (f"{letter * 8}-2222-4333-8444-555555555555:{letter}@host" for letter in "def")
WAITERS, FRONT = "rlock_queue:{x}", "rlock_queue_beats:{x}"
PLAIN = "99999999-2222-4333-8444-555555555555:9@host"
BAND = 4 * 10 ** 12


def _foreign(bench, owner):
    """Redisson's waiter comes, as its script has it: behind the last, and a patience later."""
    last = bench.server("LRANGE", QUEUE, -1, -1)
    ends = float(bench.server("ZSCORE", TIMEOUTS, last[0])) if last else bench.server.now() + bench.server.left("x")
    bench.server("ZADD", TIMEOUTS, ends + PATIENCE, owner)
    bench.server("RPUSH", QUEUE, owner)


def priority_goes_first(bench):
    """fair --priority: before all with a lower one, behind those with the same, never before who holds it"""
    fair = bench.held("fair")
    priorities = [0, 1, -1, 1000, 0, 1, -1000, -1, 1000, 0]
    places = [1, 1, 3, 1, 4, 3, 7, 7, 2, 7]
    for number, (priority, place) in enumerate(zip(priorities, places)):
        answer = fair.take(nth(number), attempt(0x10 + number), priority=priority)
        same((answer[0], answer[2], answer[9]), (BUSY, place, number + 1), f"{number} of {priority}")
    order = sorted(range(10), key=lambda number: (-priorities[number], number))
    expected = [nth(number) for number in order]
    same(bench.server.value(QUEUE), expected)
    same(bench.server("ZRANGE", WAITERS, 0, -1), expected, "by tickets")
    same(fair.give(A, attempt(1))[0], RELEASED)
    for number in order:
        answer = fair.take(nth(number), attempt(0x10 + number), place="1", priority=priorities[number])
        same((answer[0], fair.give(nth(number), attempt(0x10 + number))[0]), (GRANTED, RELEASED), f"{number}")
    bench.standing()


def priority_tickets(bench):
    """fair --priority: tickets are the time of coming, or one more where somebody has that; whole at both ends"""
    fair = bench.held("fair")
    for priority in (1000, -1000, 0, 1000, -1000, 0, 1000):
        number = bench.server("ZCARD", WAITERS)
        ticket = fair.take(nth(number), attempt(0x10 + number), priority=priority)[12]
        about(ticket + priority * BAND, bench.server.now(), "the ticket")
        same(int(float(bench.server("ZSCORE", WAITERS, nth(number)))), ticket)
    tickets = [int(ticket) for ticket in bench.server("ZRANGE", WAITERS, 0, -1, "WITHSCORES")[1::2]]
    same(len(set(tickets)), 7, "tickets")
    later = bench.server.now() + 60000  # the clock was set back since
    bench.server("ZADD", WAITERS, later - 1000 * BAND, nth(6))
    bench.server("ZADD", WAITERS, later, nth(5))
    same(fair.take(B, attempt(2), priority=1000)[12], later + 1 - 1000 * BAND, "one more than the last of its band")
    same(fair.take(C, attempt(3))[12], later + 1, "of those without")
    about(fair.take(HIGH, attempt(4), priority=7)[12] + 7 * BAND, bench.server.now(), "in a band of its own")


def priority_takes_a_free_lock(bench):
    """fair --priority: a newcomer takes a free lock before one that was woken and has a lower one, not the same"""
    fair = bench.lock("fair")
    for head, newcomer, expected in bench.afresh((0, 0, BUSY), (0, 1, GRANTED), (-1, 0, GRANTED), (-1, -1, BUSY),
                                                 (5, 4, BUSY), (1000, 1000, BUSY), (-1000, -999, GRANTED)):
        fair.take(A, attempt(1))
        fair.take(B, attempt(2), priority=head)
        bench.hear(fair.own_channel(B))
        fair.give(A, attempt(1))
        same(fair.take(C, attempt(3), priority=newcomer, wait=False)[0], expected, (head, newcomer))
        if expected == GRANTED:
            bench.heard((fair.own_channel(B), "0"), (fair.own_channel(B), f"first {LEASE}"))
            same(fair.take(B, attempt(2), priority=head)[0], BUSY, "which has come too late")
            same(bench.server.value(QUEUE), [B])
        bench.listener.heard()
        bench.listener.deafen(fair.own_channel(B))


def priority_beside_redissons(bench):
    """fair --priority: Redisson's keep their order and their scores, and are let past by those with a low one"""
    fair = bench.held("fair")
    fair.take(B, attempt(2))
    _foreign(bench, R)
    fair.take(LOW, attempt(3), priority=-5)
    before = bench.server.value(TIMEOUTS)
    _foreign(bench, S)
    fair.take(HIGH, attempt(4), priority=5)
    fair.take(HIGHEST, attempt(5), priority=6)
    same(bench.server.value(QUEUE), [HIGHEST, HIGH, B, R, LOW, S])
    fair.take(C, attempt(6))
    same(bench.server.value(QUEUE), [HIGHEST, HIGH, B, R, LOW, S, C], "behind Redisson's, which came before")
    same(fair.take(LOW, attempt(3), priority=-5)[2], 7)
    same(bench.server.value(QUEUE), [HIGHEST, HIGH, B, R, S, C, LOW])
    scores = bench.server.value(TIMEOUTS)
    same(scores[R], before[R], "the score of one that was overtaken")
    about(scores[S], before[LOW] + PATIENCE, "and of one that was let past")
    same(set(scores), {HIGHEST, HIGH, B, R, S, C, LOW})
    for gone in (lambda: fair.give(HIGHEST, attempt(5), priority=6), lambda: fair.give(A, attempt(1)),
                 lambda: fair.take(HIGH, attempt(4), priority=5), lambda: fair.give(HIGH, attempt(4))):
        gone()
        after = bench.server.value(TIMEOUTS)
        same((after[R], after[S]), (scores[R], scores[S]), "the scores, when one goes that has overtaken them")
    same(bench.server.value(QUEUE), [B, R, S, C, LOW])
    fair.give(B, attempt(2))
    same(bench.server.value(TIMEOUTS)[R], scores[R] - PATIENCE, "one that stood before it")
    fair.give(LOW, attempt(3), priority=-5)
    same(bench.server.value(TIMEOUTS)[R], scores[R] - PATIENCE, "one that stood behind it")


def priority_head_is_low(bench):
    """fair --priority: one with a low one that finds the lock free lets Redisson's past that came later, and wakes it"""
    fair = bench.held("fair")
    fair.take(LOW, attempt(2), priority=-1)
    for owner in (R, S):
        _foreign(bench, owner)
    bench.hear(fair.own_channel(R), fair.own_channel(LOW))
    fair.give(A, attempt(1))
    bench.heard((fair.own_channel(LOW), "0"))
    same(fair.take(B, attempt(3), wait=False)[0:4:3], [BUSY, R], "and nobody of its priority overtakes it")
    same(fair.take(LOW, attempt(2), priority=-1)[0:4], [BUSY, -1, 3, R])
    bench.heard((fair.own_channel(R), "0"), (fair.own_channel(R), "0"))
    same(bench.server.value(QUEUE), [R, S, LOW])
    same(fair.take(HIGH, attempt(4), priority=1, wait=False)[0], GRANTED, "but one with a higher one does")
    same(bench.server.value(QUEUE), [R, S, LOW])


def priority_lets_a_few_past(bench):
    """fair --priority: a few are let past at a time, and who comes meanwhile stands behind them, or with its own"""
    fair = bench.held("fair")
    fair.take(PLAIN, attempt(6))
    fair.take(LOW, attempt(2), priority=-1)
    foreign = [f"{number:08x}-2222-4333-8444-555555555555:{number}" for number in range(12)]
    for owner in foreign:
        _foreign(bench, owner)
    fair.take(B, attempt(3))
    bench.few(fair.take, HIGH, attempt(4), priority=-2)
    same(bench.server.value(QUEUE), [PLAIN, LOW, HIGH] + foreign + [B])
    bench.few(fair.take, C, attempt(5), priority=-1)
    same(bench.server.value(QUEUE), [PLAIN, LOW, C, HIGH] + foreign + [B])
    for past in (5, 10):
        same(bench.few(fair.take, HIGH, attempt(4), priority=-2)[11], 1, "comes again at once")
        same(bench.server.value(QUEUE), [PLAIN] + foreign[:past] + [LOW, C, HIGH] + foreign[past:] + [B])
    bench.few(fair.take, HIGH, attempt(4), priority=-2)
    same(bench.server.value(QUEUE), [PLAIN] + foreign + [B, LOW, C, HIGH])
    same(bench.server("ZRANGE", WAITERS, 0, -1), [PLAIN, B, LOW, C, HIGH])
    same(set(bench.server.value(TIMEOUTS)), set(foreign) | {PLAIN, B, LOW, C, HIGH})


def priority_let_past_in_time(bench):
    """fair --priority: those that let Redisson's past are not stale when these have had the lock"""
    fair = bench.held("fair")
    fair.take(LOW, attempt(2), priority=-3)
    for owner in (R, S):
        _foreign(bench, owner)
    fair.take(HIGH, attempt(4), priority=-3)
    same(bench.server.value(QUEUE), [R, S, LOW, HIGH])
    for owner in (R, S):  # as they take it, each in its turn
        same(bench.server("LPOP", QUEUE), owner)
        bench.server("ZREM", TIMEOUTS, owner)
        for waiter in bench.server("ZRANGE", TIMEOUTS, 0, -1):
            bench.server("ZINCRBY", TIMEOUTS, -PATIENCE, waiter)
    scores = bench.server.value(TIMEOUTS)
    about(scores[LOW], bench.server.now() + LEASE + PATIENCE)
    same(scores[HIGH] > scores[LOW], True, "and in their order")


def priority_and_redissons_next(bench):
    """fair --priority: Redisson's next one counts all before it, by the score of the last, which each newcomer moves away"""
    fair = bench.held("fair")
    fair.take(LOW, attempt(2), priority=-1)
    about(bench.server.value(TIMEOUTS)[LOW], bench.server.now() + LEASE + PATIENCE)
    fair.take(B, attempt(3))
    fair.take(C, attempt(4))
    about(bench.server.value(TIMEOUTS)[LOW], bench.server.now() + LEASE + 3 * PATIENCE)
    fair.take(HIGH, attempt(5), priority=1)
    about(bench.server.value(TIMEOUTS)[HIGH], bench.server.now() + LEASE + PATIENCE)
    fair.take(LOW, attempt(2), priority=-1)
    fair.give(HIGH, attempt(5), priority=1)
    about(bench.server.value(TIMEOUTS)[LOW], bench.server.now() + LEASE + 3 * PATIENCE)


def priority_of_the_dead(bench):
    """fair --priority: the dead that had overtaken Redisson's are passed over, and its scores stay"""
    fair = bench.held("fair", lease=600000)
    fair.take(B, attempt(2))
    bench.queue((R, 2 * 600000))
    for number in range(7):
        same(fair.take(nth(number), attempt(0x100 + number), priority=1 + number)[0], BUSY)
    fair.take(LOW, attempt(3), priority=-1)
    passed = 0
    while bench.server("LLEN", QUEUE) > 3:
        same(passed < 10000, True, f"after {passed} ms")
        bench.server.let_pass(2400)
        passed += 2400
        for owner, number, priority in ((B, 2, 0), (LOW, 3, -1)):
            while fair.take(owner, attempt(number), priority=priority)[11] == 1:
                pass
    same(bench.server.value(QUEUE), [B, R, LOW])
    about(bench.server.value(TIMEOUTS)[R], bench.server.now() + 2 * 600000 - passed, "its score")
    bench.server.let_pass(-60000)


def priority_and_supersede(bench):
    """fair --priority: the newest stays, whatever its priority"""
    fair = bench.held("fair")
    fair.take(PLAIN, attempt(2))
    fair.take(B, attempt(3), variant="supersede", priority=3)
    same(bench.server.value(QUEUE), [B, PLAIN])
    fair.take(C, attempt(4), variant="supersede", priority=-3)
    same(bench.server.value(QUEUE), [PLAIN, C])
    same(fair.take(B, attempt(3), variant="supersede", priority=3, place="1")[0], OUSTED)
    fair.give(B, attempt(3), priority=3)
    answer = fair.take(HIGH, attempt(5), variant="supersede", priority=1000)
    same((answer[0], answer[2]), (BUSY, 1))
    same(bench.server("HEXISTS", FRONT, HIGH), 1, "it stands at the front, and may die at once")
    same(bench.server.value(QUEUE), [HIGH, PLAIN])
    same(fair.take(C, attempt(4), variant="supersede", priority=-3, place="2")[0], OUSTED)
    for owner, number in ((C, 4), (PLAIN, 2)):
        fair.give(owner, attempt(number))
    same(bench.server.value(QUEUE), [HIGH])
    fair.give(HIGH, attempt(5), priority=1000)
    fair.give(A, attempt(1))
    bench.standing()


def priority_comes_back_to_its_place(bench):
    """fair --priority: one that was taken for dead comes back to its place. With its ticket, and its priority."""
    fair = bench.held("fair")
    tickets = [fair.take(owner, attempt(number), priority=priority)[12]
               for number, (owner, priority) in enumerate(((HIGH, 1), (B, 0), (LOW, -1), (C, -1)), 2)]
    for owner, number, priority in ((HIGH, 2, 1), (B, 3, 0), (LOW, 4, -1)):
        bench.server("LREM", QUEUE, 0, owner)
        for key in (WAITERS, TIMEOUTS):
            bench.server("ZREM", key, owner)
        bench.server("HDEL", FRONT, owner)
        fair.take(owner, attempt(number), priority=priority, ticket=tickets[number - 2], place="1")
        same(bench.server.value(QUEUE), [HIGH, B, LOW, C], owner)


def cost_of_priorities(bench):
    """fair --priority: one script runs some 40 commands at most, whoever waits or has died

    Bounded, however many wait, of which priorities, and whoever has died. Beside Redisson's a few commands
    more find out where the dead stood."""
    for size, foreign in bench.afresh((10, 0), (10, 30), (300, 0), (300, 30)):
        fair, most = bench.lock("fair"), MOST + 2 + 10 * (foreign > 0)
        fair.take(A, attempt(0xa), lease=3600000)
        for number in range(size):
            bench.few(fair.take, nth(number), attempt(0x1000 + number), priority=number % 7 - 3, most=most)
        for number in range(foreign):
            _foreign(bench, f"{number:08x}-2222-4333-8444-555555555555:{number}")
        for _ in range(5):
            for number in range(0, size, 3):
                bench.few(fair.take, nth(number), attempt(0x1000 + number), priority=number % 7 - 3, place="1", most=most)
            bench.server.let_pass(2400)
        for number in range(3):
            bench.few(fair.give, nth(number), attempt(0x1000 + number), priority=number % 7 - 3, most=most)
        bench.few(fair.give, A, attempt(0xa), most=most)


def overtaken_at_the_front(bench):
    """fair --priority: those that are overtaken do not send heartbeats for ever: the front has 22 at most, and no gap"""
    fair = bench.held("fair")
    for number in range(100):
        bench.listener.listen(fair.own_channel(nth(number)))
        fair.take(nth(number), attempt(0x1000 + number), priority=number + 1)
        front = bench.server("HKEYS", FRONT)
        same(len(front) <= 16 + 5 + 1, True, f"{len(front)} send heartbeats")
        same(set(bench.server("ZRANGE", WAITERS, 0, len(front) - 1)), set(front), "those in front")
